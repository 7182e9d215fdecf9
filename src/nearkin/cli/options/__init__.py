"""Options of commands: names, help, panels and checks, each written once."""
