// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Whether the calling thread may block.
//
// A thread that polls a task must not wait for another task: that one may need
// this very thread. Whoever runs tasks marks the thread; whoever blocks checks;
// a job of a blocking pool is allowed to. Internal.
//
// Thread safety: per thread.
#ifndef WEFT_TASK_BLOCKING_CHECK_H_
#define WEFT_TASK_BLOCKING_CHECK_H_

namespace weft::task_internal {

// False while a NoBlockingScope is the innermost scope on this thread.
bool MayBlock();

class BlockingScope {
 public:
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

 protected:
  explicit BlockingScope(bool may_block);
  ~BlockingScope();

 private:
  bool& slot_;  // the thread's
  const bool previous_;
};

struct NoBlockingScope : BlockingScope {
  NoBlockingScope() : BlockingScope(false) {}
};
struct MayBlockScope : BlockingScope {
  MayBlockScope() : BlockingScope(true) {}
};

}  // namespace weft::task_internal

#endif  // WEFT_TASK_BLOCKING_CHECK_H_
