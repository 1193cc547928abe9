"""A server for coding agents: the commands as tools of the Model Context Protocol."""
