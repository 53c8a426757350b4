// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Options of the sanitizers' run-time libraries, which ask the program for
// them. Linked into every test and program of ours; a build without sanitizers
// never calls these. The environment (TSAN_OPTIONS, …) overrides them.

extern "C" {

const char* __asan_default_options();
const char* __tsan_default_options();
const char* __tsan_default_suppressions();
const char* __ubsan_default_options();

const char* __asan_default_options() {
  return "detect_stack_use_after_return=1:strict_init_order=1";
}

const char* __tsan_default_options() { return "second_deadlock_stack=1"; }

// moodycamel's queue orders its accesses by fences, which the sanitizer does
// not model. What it hands over is annotated where it is used.
const char* __tsan_default_suppressions() { return "race:moodycamel::\n"; }

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

}  // extern "C"
