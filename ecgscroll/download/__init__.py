"""Fetching databases: plan, transfer, verification; `database.prepare_database` is the door."""
