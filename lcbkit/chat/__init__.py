"""Chat models from below: endpoints, what a model says of itself, failures, request keys, recordings."""
