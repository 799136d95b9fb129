"""Work on other machines: the connection to a Dask cluster, and what every use of it needs."""
