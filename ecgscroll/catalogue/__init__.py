"""What can be run: database cards, instances and their truths, the core set, patient splits."""
