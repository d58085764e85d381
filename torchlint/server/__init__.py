"""The language server: what an editor holds, saved or not, to findings, fixes and explanations, through pygls.

One process speaks the protocol and holds the texts; another, its child, does all the work on them (`worker`, `jobs`), so that
an answer is never late because of a file that takes long. Entered by `torchlint.cli.server`, which leads to `language_server`.
`jobs`, `worker`, `settings`, `texts` and `versions` know nothing of pygls, and nothing outside of this package does.
"""
