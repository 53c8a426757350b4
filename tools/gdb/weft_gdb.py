# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Shows the tasks of a weft program in gdb, alive or as a core file.

  (gdb) source tools/gdb/weft_gdb.py
  (gdb) weft tasks            the live tasks of every executor, what each awaits
  (gdb) weft task 7           one of them
  (gdb) weft await WHAT       the awaits of a coroutine: a weft::Task, or a frame

Reads memory only: it calls nothing in the program. Needs debug information (-g) of
weft and of the program. Listed are tasks that were suspended before, and those that
threads run just now; not those that wait in a queue for their first poll, nor any of
a DeterministicExecutor or ManualExecutor that no thread runs.
"""

import re

import gdb
import gdb.types

# Of a coroutine frame: two pointers to functions, then the promise. Of both
# compilers (the Itanium ABI's for coroutines), as no promise is over-aligned.
PROMISE_OFFSET = 16
# A position with this bit is of a coroutine that runs (task/task_promise.h).
RUNS = 1
# The bits of a task's state (task/task_state.h), and of one that is bound to a
# thread (task/local_task_state.h).
SCHEDULED, RUNNING, DONE, HANDLE, REFERENCE = 1, 2, 4, 32, 256
SENT, HANDLE_GONE = 1, 16
# Behind the two pointers of a FutureAwaiter's Leaf (task/task.h).
FUTURE_OFFSET = 16
# Of the byte of a thread's Running that says that a poll is not over
# (task/running.h).
POLLS_OFFSET = 17
MOST_COROUTINES = 1000
MOST_NAME = 200
# What reading memory that is not what it should be ends with.
UNREADABLE = (gdb.error, ValueError, OverflowError, KeyError, TypeError)
ANONYMOUS = ("(anonymous namespace)::", "{anonymous}::")
CELL = "weft::task_internal::TaskHeaderWith<weft::SpawnedTask>"
AWAITER = "weft::task_internal::FutureAwaiter<"
HANDLES = ("weft::JoinHandle<", "weft::task_internal::CancelFuture<",
           "weft::task_internal::OutcomeFuture<", "weft::task_internal::ResultFuture<")
# The second is for gdbs that cannot read what clang makes of constrained templates.
PUMP = re.compile(r"TaskCell(<weft::executor_internal::PumpCore::Pump|"
                  r"INS_17executor_internal8PumpCore4PumpE)")


def type_named(name):
    """The type, or an error that says what to do."""
    try:
        return gdb.lookup_type(name)
    except gdb.error as error:
        raise gdb.GdbError(
            f"{error} weft itself must be built with -g, not only what uses it: for "
            "instance by ./bazelw build --copt=-g //...") from error


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


def symbol_at(address):
    """The symbol of a function, with its section, or an empty string."""
    text = gdb.execute(f"info symbol {int(address):#x}", to_string=True)
    return text.splitlines()[0] if " in section " in text else ""


def short_name(function):
    """As ShortFunctionName() (task/await_trace.h)."""
    for anonymous in ANONYMOUS:
        function = function.replace(anonymous, "")
    begin = inside = 0
    for end, letter in enumerate(function):
        inside += (letter == "<") - (letter == ">")
        if inside == 0 and letter == "(":
            return function[begin:end]
        if inside == 0 and letter in " *&":
            begin = end + 1
    return function[begin:]


def text_of(location, between=" at "):
    """FUNCTION at FILE:LINE of a std::source_location, or None."""
    where = location["_M_impl"]
    if int(where) == 0:
        return None
    function = short_name(where["_M_function_name"].string())
    file = where["_M_file_name"].string().rsplit("/", 1)[-1]
    return f"{function}{between}{file}:{int(where['_M_line'])}"


# ---- What a future waits for: pairs of a depth and a text ----


def promise_of(frame):
    """The PromiseBase of a coroutine's frame."""
    return value_at(int(frame) + PROMISE_OFFSET, "weft::task_internal::PromiseBase")


def is_frame(address):
    """Whether a coroutine's frame is there: with two functions in front.

    The root of a promise is no proof alone: behind the control block of a
    std::shared_ptr lies an object that may point to itself in the same way.
    """
    if address == 0 or address % 16 != 0:
        return False
    try:
        functions = [word_at(address), word_at(address + 8)]
    except gdb.error:
        return False
    return all(" in section .text" in symbol_at(function) for function in functions)


def typed_self(function, address):
    """An object, of the type of the pointer `self` in one of its functions, or None."""
    block = gdb.block_for_pc(int(function))
    while block is not None and not block.is_static and not block.is_global:
        for symbol in block:
            if symbol.name == "self":
                return gdb.Value(int(address)).cast(symbol.type).dereference()
        if block.function is not None:
            return None
        block = block.superblock
    return None


def deeper(lines):
    """The same, one step further inside."""
    return [(depth + 1, text) for depth, text in lines]


def engaged(optional):
    """What is in a std::optional, or None."""
    payload = optional["_M_payload"]
    return payload["_M_payload"]["_M_value"] if payload["_M_engaged"] else None


def future_lines(name, address, value=None):
    """Those of a future, as Trace() adds them; only of some without a value."""
    if name.startswith("weft::Task<"):
        frame = word_at(address)
        return coroutine_lines(frame) if is_frame(frame) else []
    if name.startswith(HANDLES):
        task = word_at(address)
        if task == 0:
            return []
        return [(0, f"task {int(header_at(task)['id']['value_'])}")]
    if value is not None and name.startswith("weft::InvokeFuture<"):
        inner = engaged(value["inner_"])
        if inner is None:
            return [(0, "a function that was not called yet")]
        return value_lines(inner)
    if value is not None and name.startswith("weft::timer::TimeoutFuture<"):
        inner = value["future_"]["future_"]
        if inner.type.code != gdb.TYPE_CODE_REF:
            inner = engaged(inner)
        return [(0, "Timeout")] + (deeper(value_lines(inner)) if inner is not None else [])
    return [(0, name)]


def value_lines(value):
    """The lines of a future whose type is known."""
    if value.type.code == gdb.TYPE_CODE_REF:
        value = value.referenced_value()
    kind = value.type.strip_typedefs().unqualified()
    return future_lines(kind.name or str(kind), int(value.address), value)


def leaf_lines(leaf):
    """The lines of what is awaited and is no coroutine of the same root."""
    awaiter = typed_self(leaf["poll"], leaf.address)
    if awaiter is not None:
        return value_lines(awaiter["future_"])
    name = symbol_at(leaf["poll"]).split(">::PollOrTrace(")[0]
    if not name.startswith(AWAITER):
        return []
    # The other argument says whether it is an lvalue.
    return future_lines(name[len(AWAITER):].rsplit(",", 1)[0].strip(),
                        word_at(int(leaf.address) + FUTURE_OFFSET))


def coroutine_lines(root):
    """The lines of a root, outermost first, and of its leaf."""
    position = int(atomic(promise_of(root)["position"]["word_"]))
    if position == 0:
        return [(0, "a coroutine that has not started")]
    leaf = None
    if position & RUNS:
        frame = position - RUNS
    else:
        leaf = value_at(position, "weft::task_internal::Leaf")
        frame = int(leaf["coroutine"]["_M_fr_ptr"])
    texts = []
    between = " at " if leaf is not None else " runs, last at "
    for _ in range(MOST_COROUTINES):
        promise = promise_of(frame)
        texts.append(text_of(promise["awaits"], between) or
                     "a coroutine runs that has not come to a co_await")
        if int(frame) == int(root):
            break
        between = " at "
        frame = int(promise["link"]["parent"]["_M_fr_ptr"])
    lines = list(enumerate(texts[::-1]))
    if leaf is not None:
        lines += [(depth + len(texts), text) for depth, text in leaf_lines(leaf)]
    return lines


def print_lines(read, indent):
    """Prints the lines that read() returns, or why it cannot."""
    try:
        for depth, text in read():
            print(indent + "  " * depth + text)
    except UNREADABLE as error:
        print(f"{indent}cannot be read: {error}")


# ---- A task ----


def header_at(address):
    """The TaskHeader of a task."""
    return value_at(address, "weft::task_internal::TaskHeader")


def task_lines(task):
    """The lines of a task's future."""
    function = task["vtable"]["trace"]
    cell = typed_self(function, task.address)
    if cell is not None:
        return value_lines(cell["future_"])
    if task["is_job"]:
        return []
    # Of code without debug information: a coroutine that is the future, or that a
    # function without captures has returned.
    future = int(task.address) + type_named(CELL).sizeof
    for address in (future, future + 8):
        frame = word_at(address)
        if is_frame(frame) and promise_of(frame)["root"] == promise_of(frame).address:
            return coroutine_lines(frame)
    return []


def is_waker_left(task):
    """Whether anybody could wake a task that waits."""
    if int(task["thread"]) == 0:
        word = int(atomic(task["shared"]["word_"]))
        return word // REFERENCE > (1 if word & HANDLE else 0)
    shared = int(atomic(task["local"]["shared_"]))
    has_handle = int(task["local"]["home_"]) & HANDLE and not shared & HANDLE_GONE
    return shared // REFERENCE > (2 if has_handle else 1)  # one is home's


def state_of(task):
    """What a task does that no thread is known to run, in words."""
    if int(task["thread"]) == 0:
        word = int(atomic(task["shared"]["word_"]))
        scheduled = word & SCHEDULED
    else:
        word = int(task["local"]["home_"])
        sent = int(atomic(task["local"]["shared_"])) & SENT
        scheduled = word & (SCHEDULED | RUNNING) or sent
    if word & DONE:
        return "has finished"
    if scheduled:
        return "is scheduled, or runs"
    if not is_waker_left(task):
        return "waits, but nobody has its waker: it will never run"
    return "waits"


def title_of(task):
    """Who a task is."""
    kind = "blocking job" if task["is_job"] else "task"
    text = f"{kind} {int(task['id']['value_'])}"
    extras = int(word_at(task["extras"].address))
    if extras != 0:
        name = value_at(extras, "weft::task_internal::TaskExtras")["name"]
        size = min(int(name["_M_string_length"]), MOST_NAME)
        if size > 0:
            text += ' "' + name["_M_dataplus"]["_M_p"].string(length=size) + '"'
    spawned = text_of(task["spawned_at"])
    return text if spawned is None else f"{text}, spawned in {spawned},"


def describe(address, running):
    """Prints all about a task, a line each."""
    try:
        task = header_at(address)
        thread, polls = running.get(int(address), (None, True))
        state = f"runs in {thread}" if thread else state_of(task)
        print(f"{title_of(task)} {state}")
    except UNREADABLE as error:
        print(f"the task at {int(address):#x} cannot be read: {error}")
        return
    # Without a poll the future is being destroyed, or is gone.
    if polls and state != "has finished":
        print_lines(lambda: task_lines(task), "  ")


# ---- All tasks ----


class Group:
    """The lists of an executor's tasks that were suspended before."""

    def __init__(self, title, lists):
        self.title = title
        self.lists = lists

    def size(self):
        """How many tasks are in it."""
        return sum(int(tasks["size_"]) for tasks in self.lists)

    def headline(self):
        """Whose tasks they are, and how many."""
        tasks = "task" if self.size() == 1 else "tasks"
        return f"{self.title}: {self.size()} live {tasks}, suspended or suspended before"

    def addresses(self):
        """The address of each; a list that is broken ends with a line that says so."""
        offset = next(field.bitpos // 8 for field in type_named(CELL).fields()
                      if field.name == "metadata")
        for tasks in self.lists:
            seen = set()
            try:
                task = tasks["first_"]
                while int(task) != 0 and int(task) not in seen:
                    seen.add(int(task))
                    yield int(task) - offset
                    task = task["next"]
            except UNREADABLE as error:
                print(f"what comes next cannot be read: {error}")


def cores(name):
    """Those of a class with a static list of all; none if the program has none."""
    try:
        core = word_at(gdb.parse_and_eval(f"&'{name}::all_'"))
    except gdb.error:
        return
    while core != 0:
        value = value_at(core, name)
        yield value
        core = int(value["next_of_all_"])


def executors():
    """The groups of Executors."""
    for core in cores("weft::executor_internal::ExecutorCore"):
        lists = [core["tasks_"]["list_"]]
        threads = []
        for i in range(int(atomic(core["runner_count_"]))):
            runner = atomic(core["runners_"]["_M_elems"][i]).dereference()
            lists.append(runner["tasks"]["list_"])
            if int(atomic(runner["thread"])) != 0:
                threads.append(str(int(atomic(runner["thread"]))))
        by = "run by LWP " + ", ".join(threads) if threads else "in which no thread is"
        group = Group(f"Executor {by} (core {int(core.address):#x})", lists)
        if group.size() != 0 or not str(atomic(core["phase_"])).endswith("kClosed"):
            yield group


def local_executors():
    """The groups of LocalExecutors."""
    for core in cores("weft::executor_internal::LocalCore"):
        group = Group(f"LocalExecutor of LWP {int(atomic(core['home_thread_']))} "
                      f"(core {int(core.address):#x})", [core["suspended_"]])
        if group.size() != 0 or not core["closed_"]:
            yield group


def pumped_core(address):
    """The PumpCore whose pump a task is, or None."""
    task = header_at(address)
    if PUMP.search(symbol_at(task["vtable"]["trace"])) is None:
        return None
    core = word_at(address + type_named(CELL).sizeof)
    return core or None


def groups():
    """Those of all executors, and of the Strands and PriorityExecutors over them."""
    found = list(executors()) + list(local_executors())
    seen = set()
    for group in found:  # which becomes longer
        yield group
        for address in group.addresses():
            try:
                core = pumped_core(address)
                if core is None or core in seen:
                    continue
                seen.add(core)
                value = value_at(core, "weft::executor_internal::PumpCore")
                pump = int(header_at(address)["id"]["value_"])
                found.append(Group(f"Strand or PriorityExecutor in task {pump} "
                                   f"(core {core:#x})", [value["suspended_"]]))
            except UNREADABLE:
                pass  # whoever shows the task says so


def running_tasks():
    """Of each task that a thread runs: the thread, and whether it is in a poll."""
    running = {}
    selected = gdb.selected_thread()
    try:
        frame = gdb.selected_frame()
    except gdb.error:
        frame = None
    try:
        for thread in gdb.selected_inferior().threads():
            try:
                thread.switch()
                record = int(gdb.parse_and_eval(
                    "(unsigned long)&'weft::task_internal::ThisThreadRuns()::running'"))
                task = word_at(record)
                polls = word_at(record + POLLS_OFFSET) & 0xFF != 0
            except gdb.error:
                continue  # a thread that has none, or none can be found
            if task != 0:
                running[task] = (f"thread {thread.num} (LWP {thread.ptid[1]})", polls)
    finally:
        if selected is not None and selected.is_valid():
            selected.switch()
        if frame is not None and frame.is_valid():
            frame.select()
    return running


def check_process():
    """An error if there is nothing to look at."""
    if not gdb.selected_inferior().threads():
        raise gdb.GdbError("there is no process and no core file: run the program, "
                           "attach to it, or start gdb as gdb PROGRAM CORE")
    for name in ("ExecutorCore", "LocalCore"):
        try:
            gdb.parse_and_eval(f"&'weft::executor_internal::{name}::all_'")
            return
        except gdb.error:
            pass
    raise gdb.GdbError("the program has no executor of weft, or was stripped of its "
                       "symbols")


# ---- Commands ----


class Weft(gdb.Command):
    """Shows the tasks of a weft program.

    weft tasks        the live tasks of every executor, and what each awaits
    weft task ID      the task of that number
    weft await WHAT   the awaits of a coroutine. WHAT is a variable of type weft::Task,
                      or the address of a frame: what "print TASK.coroutine_" shows, or
                      std::coroutine_handle<>::address() returns

    weft and the program must be built with -g."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, prefix=True)


class WeftTasks(gdb.Command):
    """weft tasks: the live tasks of every executor, and what each awaits.

    Those that were suspended before, executor by executor, and those that threads
    run just now."""

    def __init__(self):
        super().__init__("weft tasks", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        if argument.strip():
            raise gdb.GdbError("weft tasks takes no argument; weft task ID shows one")
        check_process()
        running = running_tasks()
        shown = set()
        for group in groups():
            print(group.headline())
            for address in group.addresses():
                shown.add(address)
                describe(address, running)
        first = [address for address in running if address not in shown]
        if first:
            print("Running, and never suspended before or not of these executors:")
        for address in first:
            describe(address, running)


class WeftTask(gdb.Command):
    """weft task ID: the task of that number."""

    def __init__(self):
        super().__init__("weft task", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        try:
            wanted = int(gdb.parse_and_eval(argument))
        except UNREADABLE as error:
            raise gdb.GdbError("weft task ID: give the number of a task, which weft "
                               "tasks shows") from error
        check_process()
        running = running_tasks()
        addresses = [a for group in groups() for a in group.addresses()]
        for address in addresses + list(running):
            try:
                found = int(header_at(address)["id"]["value_"]) == wanted
            except UNREADABLE:
                continue
            if found:
                describe(address, running)
                return
        raise gdb.GdbError(f"there is no live task {wanted} that was suspended before, "
                           "or runs")


class WeftAwait(gdb.Command):
    """weft await WHAT: the awaits of a coroutine.

    WHAT is a variable of type weft::Task, or the address of a frame: what "print
    TASK.coroutine_" shows, or std::coroutine_handle<>::address() returns. Shown is
    the whole chain that the coroutine is part of."""

    def __init__(self):
        super().__init__("weft await", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        usage = ("weft await WHAT: give a variable of type weft::Task, or the address of "
                 "a frame; see help weft await")
        if not argument.strip():
            raise gdb.GdbError(usage)
        try:
            value = gdb.parse_and_eval(argument)
            for member in ("coroutine_", "_M_fr_ptr"):
                kind = value.type.strip_typedefs()
                if kind.code == gdb.TYPE_CODE_STRUCT and gdb.types.has_field(kind, member):
                    value = value[member]
            frame = int(value)
        except UNREADABLE as error:
            raise gdb.GdbError(f"{usage} ({error})") from error
        check_process()
        if not is_frame(frame):
            raise gdb.GdbError(f"at {frame:#x} is no frame of a coroutine, or of one "
                               "that has ended; see help weft await")
        root = int(promise_of(frame)["root"])
        print_lines(lambda: coroutine_lines(root - PROMISE_OFFSET if root else frame), "")


Weft()
WeftTasks()
WeftTask()
WeftAwait()
