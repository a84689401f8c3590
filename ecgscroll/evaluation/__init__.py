"""Any policy over any list of instances: parallel, resumable, with a transcript per episode.

`config` says what is run, `episode` plays one, `engine` plays many, `folder` keeps them,
`summary` and `table` say how they went, `rescoring` scores them anew.
"""
