"""Language models behind one small protocol, wherever they run."""
