"""The commands of `lcb`, by what they are about; `lcbkit.cli` puts them together."""
