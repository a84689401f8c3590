"""The episode: the stream that holds the cursor, the four actions, the Gymnasium environment."""
