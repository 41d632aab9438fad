"""The system of the ReFrame test: this machine, without a scheduler.

A cluster has a configuration of its own; ridgebench_test.py then runs there with `-C` naming that one. With
`--distribute=idle` ReFrame runs the test once on each idle node and keeps the node's name.
"""

site_configuration = {
    "systems": [
        {
            "name": "node",
            "descr": "one machine",
            "hostnames": [".*"],
            "partitions": [{"name": "local", "scheduler": "local", "launcher": "local", "environs": ["builtin"]}],
        }
    ],
    "environments": [{"name": "builtin", "target_systems": ["*"]}],
}
