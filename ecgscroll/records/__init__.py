"""WFDB records: samples by window, annotations, and what the annotations say in seconds."""
