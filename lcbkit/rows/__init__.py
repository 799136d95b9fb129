"""LiveCodeBench's rows before they are problems: schema, fields, packed tests, files, tables and the hub."""
