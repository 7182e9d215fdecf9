"""Groups with permanent numbers, their changes, and their state at earlier moments."""
