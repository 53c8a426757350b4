# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Shows the tasks of a weft program in gdb, alive or as a core file.

  (gdb) source tools/gdb/weft_gdb.py
  (gdb) weft tasks            the live tasks of every Executor, what each awaits
  (gdb) weft task 7           one of them
  (gdb) weft await ADDRESS    the awaits of a coroutine, given its frame

Reads memory only: it calls nothing in the program. Needs the program's debug
information (-g). Not listed are tasks that were never suspended, and those of a
LocalExecutor.
"""

import re

import gdb

# Of a coroutine frame: two pointers to functions, then the promise. Of both
# compilers (the Itanium ABI's for coroutines), as no promise is over-aligned.
PROMISE_OFFSET = 16
# A position with this bit is of a coroutine that runs (task/task_promise.h).
RUNS = 1
# The bits of a task's state (task/task_state.h).
SCHEDULED, DONE, HANDLE, REFERENCE = 1, 4, 32, 256
MOST_COROUTINES = 1000
ANONYMOUS = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::")
# Where a coroutine is looked for, behind the header of its task.
MOST_FUTURE_BYTES = 512


def type_named(name):
    """The type, or an error that says what to do."""
    try:
        return gdb.lookup_type(name)
    except gdb.error as error:
        raise gdb.GdbError(f"{error} Was the program built with -g?") from error


def value_at(address, type_name):
    """What lies at an address."""
    return gdb.Value(int(address)).cast(type_named(type_name).pointer()).dereference()


def word_at(address):
    """An unsigned word of the program's memory."""
    return int(gdb.Value(int(address)).cast(
        gdb.lookup_type("unsigned long").pointer()).dereference())


def atomic(value):
    """What a std::atomic holds: its only member, or that of its base."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        fields = value.type.strip_typedefs().fields()
        value = value[next(f for f in fields if hasattr(f, "bitpos"))]
    return value


def text_of(location):
    """FUNCTION at FILE:LINE of a std::source_location, or None."""
    where = location["_M_impl"]
    if int(where) == 0:
        return None
    function = ANONYMOUS.sub("", where["_M_function_name"].string())
    function = function.split("(")[0].split(" ")[-1]
    file = where["_M_file_name"].string().rsplit("/", 1)[-1]
    return f"{function} at {file}:{int(where['_M_line'])}"


def promise_of(frame):
    """The PromiseBase of a coroutine's frame."""
    return value_at(int(frame) + PROMISE_OFFSET, "weft::task_internal::PromiseBase")


def awaits_of(root):
    """The lines of a root, outermost first, and whether it runs."""
    position = int(atomic(promise_of(root)["position"]["word_"]))
    if position == 0:
        return ["has not started"], False
    runs = position & RUNS != 0
    if runs:
        frame = position - RUNS
    else:
        leaf = value_at(position, "weft::task_internal::Leaf")
        frame = int(leaf["coroutine"]["_M_fr_ptr"])
    lines = []
    for _ in range(MOST_COROUTINES):
        promise = promise_of(frame)
        lines.append(text_of(promise["awaits"]) or "has not come to a co_await")
        if int(frame) == int(root):
            break
        frame = int(promise["link"]["parent"]["_M_fr_ptr"])
    return lines[::-1], runs


def is_root(frame):
    """Whether a word is the frame of a coroutine that was polled as a root."""
    try:
        promise = promise_of(frame)
        return int(promise["root"]) == int(promise.address)
    except gdb.MemoryError:
        return False


def root_of(task):
    """The frame of a task's outermost coroutine, or None if it has none.

    The future lies behind the header, a coroutine alone or beside the function that
    made it. Its type would tell, but debuggers do not find it by a symbol's name.
    """
    header = type_named("weft::task_internal::TaskHeaderWith<weft::SpawnedTask>")
    for address in range(int(task) + header.sizeof,
                         int(task) + header.sizeof + MOST_FUTURE_BYTES, 8):
        try:
            frame = word_at(address)
        except gdb.MemoryError:
            return None
        if frame % 16 == 0 and frame != 0 and is_root(frame):
            return frame
    return None


def state_of(task):
    """What a task does, in words."""
    if int(task["thread"]) != 0:
        return "is bound to a thread"
    word = int(atomic(task["shared"]["word_"]))
    if word & DONE:
        return "has finished"
    if word & SCHEDULED:
        return "is scheduled, or runs"
    known = 1 if word & HANDLE else 0
    if word // REFERENCE <= known:
        return "waits, but nobody has its waker: it will never run"
    return "waits"


def describe(task):
    """All about a task, a line each."""
    text = f"task {int(task['id']['value_'])}"
    extras = int(word_at(task["extras"].address))
    if extras != 0:
        name = value_at(extras, "weft::task_internal::TaskExtras")["name"]
        size = int(name["_M_string_length"])
        if size > 0:
            text += ' "' + name["_M_dataplus"]["_M_p"].string(length=size) + '"'
    spawned = text_of(task["spawned_at"])
    if spawned is not None:
        text += ", spawned in " + spawned + ","
    print(f"{text} {state_of(task)}")
    root = root_of(task)
    if root is not None:
        lines, runs = awaits_of(root)
        for depth, line in enumerate(lines):
            last = runs and depth == len(lines) - 1
            print("  " * (depth + 1) + line + (" (runs)" if last else ""))


def tasks_of(registry, header, offset):
    """The TaskHeaders in a TaskRegistry."""
    task = registry["list_"]["first_"]
    while int(task) != 0:
        yield gdb.Value(int(task) - offset).cast(header.pointer())
        task = task["next"]


def all_tasks():
    """The TaskHeader of each live task, executor by executor."""
    header = type_named("weft::task_internal::TaskHeaderWith<weft::SpawnedTask>")
    offset = next(field.bitpos // 8 for field in header.fields()
                  if field.name == "metadata")
    base = type_named("weft::task_internal::TaskHeader")
    core = word_at(gdb.parse_and_eval("&'weft::executor_internal::ExecutorCore::all_'"))
    while core != 0:
        value = value_at(core, "weft::executor_internal::ExecutorCore")
        registries = [value["tasks_"]]
        for i in range(int(atomic(value["runner_count_"]))):
            runner = atomic(value["runners_"]["_M_elems"][i])
            registries.append(runner.dereference()["tasks"])
        for registry in registries:
            for task in tasks_of(registry, header, offset):
                yield task.cast(base.pointer())
        core = int(value["next_of_all_"])


class Weft(gdb.Command):
    """The commands of weft: tasks, task ID, await ADDRESS."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, prefix=True)


class WeftTasks(gdb.Command):
    """weft tasks: the live tasks of every Executor, and what each awaits."""

    def __init__(self):
        super().__init__("weft tasks", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        count = 0
        for task in all_tasks():
            describe(task)
            count += 1
        print(f"{count} live tasks that were suspended before")


class WeftTask(gdb.Command):
    """weft task ID: the task of that id."""

    def __init__(self):
        super().__init__("weft task", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        wanted = int(gdb.parse_and_eval(argument))
        for task in all_tasks():
            if int(task["id"]["value_"]) == wanted:
                describe(task)
                return
        raise gdb.GdbError(f"there is no live task {wanted} that was suspended before")


class WeftAwait(gdb.Command):
    """weft await ADDRESS: the awaits of the coroutine whose frame is there."""

    def __init__(self):
        super().__init__("weft await", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        lines, runs = awaits_of(int(gdb.parse_and_eval(argument)))
        for depth, line in enumerate(lines):
            last = runs and depth == len(lines) - 1
            print("  " * depth + line + (" (runs)" if last else ""))


Weft()
WeftTasks()
WeftTask()
WeftAwait()
