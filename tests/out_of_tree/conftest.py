from build_folder import prefix_fixture  # noqa: F401
