"""Reading on a cluster: inputs divided among tasks, partitions of data frames, and messages of tasks."""
