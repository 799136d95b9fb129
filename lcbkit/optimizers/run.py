"""`python -m lcbkit.optimizers.run`: the benchmark's way to start a job; the same as `lcb optimize`."""

__all__: list[str] = []

if __name__ == "__main__":
    from lcbkit.cli import protocol

    protocol()
