# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Repositories of links to one library that is installed, or may be."""

_LIBRARY_FOLDERS = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
]

def _find(ctx, folders, file):
    for folder in folders:
        if ctx.path(folder + "/" + file).exists:
            return folder
    return None

def library_folder(ctx, file, package):
    """Returns the first library folder that holds `file`; fails naming `package`.

    Args:
      ctx: the repository context.
      file: a path below the folder, e.g. "libgtest.a".
      package: the Debian package that installs it.

    Returns:
      The folder's path, a string.
    """
    folder = _find(ctx, _LIBRARY_FOLDERS, file)
    if folder == None:
        fail("{} is not installed: run ./bazelw, or install the package {}".format(file, package))
    return folder

_INCLUDE_FOLDERS = [
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
    "/usr/include",
]

def _optional_library_impl(ctx):
    for header in ctx.attr.headers:
        folder = _find(ctx, _INCLUDE_FOLDERS, header)
        if folder != None:
            ctx.symlink(folder + "/" + header, "include/" + header)
    for archive in ctx.attr.archives:
        file = "lib{}.a".format(archive)
        folder = _find(ctx, _LIBRARY_FOLDERS, file)
        if folder != None:
            ctx.symlink(folder + "/" + file, "lib/" + file)
    ctx.symlink(ctx.attr.build_file, "BUILD")

optional_library = repository_rule(
    implementation = _optional_library_impl,
    doc = "Links to those of some headers and static archives that are installed, with a BUILD " +
          "file of ours. What includes them depends on this, so that it is compiled anew when " +
          "they come; what else they include is found where every compiler looks.",
    attrs = {
        "archives": attr.string_list(doc = "x for lib/libx.a"),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "headers": attr.string_list(mandatory = True, doc = "paths below an include folder"),
    },
    local = True,
)

def _system_library_impl(ctx):
    for link, target in ctx.attr.links.items():
        if not ctx.path(target).exists:
            fail("{} is not installed: run ./bazelw, or install the package {}".format(
                target,
                ctx.attr.package,
            ))
        ctx.symlink(target, link)
    for archive in ctx.attr.archives:
        file = "lib{}.a".format(archive)
        folder = library_folder(ctx, file, ctx.attr.package)
        ctx.symlink(folder + "/" + file, "lib/" + file)
    ctx.symlink(ctx.attr.build_file, "BUILD")

system_library = repository_rule(
    implementation = _system_library_impl,
    doc = "Links to an installed library's headers and static archives, with a BUILD file of ours.",
    attrs = {
        "archives": attr.string_list(doc = "x for lib/libx.a"),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "links": attr.string_dict(doc = "path in the repository -> path in the system"),
        "package": attr.string(mandatory = True, doc = "the Debian package, for the message"),
    },
    local = True,
)
