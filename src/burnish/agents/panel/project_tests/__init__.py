"""The check `tests`: how a project is tested, what its tests said on the base and on the change, and what that means.

Everything here is knowledge and comparison; `burnish.agents.panel.project_tests.reviewing` runs the tests. It installs
nothing, and where there is nothing to run it says so: no evidence is neither a finding nor a pass.
"""
