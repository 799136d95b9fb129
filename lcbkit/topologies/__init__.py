"""Teams of agents: how they are wired, what they are told, what they may use."""
