"""Reading on a cluster: inputs divided among tasks, the partitions of data frames, and what tasks have to say."""
