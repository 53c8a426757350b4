// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Site: answers requests with the files and folders beneath a root.
//
// Nothing outside of the root is reached, whatever a request says: a target's
// spelling is checked when it is parsed, and weft::fs::Dir follows no symbolic
// link that leads out. Only regular files and folders are opened, so a FIFO or
// a device in the tree is as good as missing.
//
// Thread safety: any thread.
// Lifetime: a task of Answer ends before the site and the request.
// Dropping: of Answer, nothing is lost.
#ifndef WEFT_EXAMPLES_HTTP_SITE_H_
#define WEFT_EXAMPLES_HTTP_SITE_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "weft/examples/http/request.h"
#include "weft/examples/http/response.h"
#include "weft/examples/http/target.h"
#include "weft/fs/dir.h"
#include "weft/task/task.h"

namespace http {

class Site {
 public:
  explicit Site(weft::fs::Dir root) : root_(std::move(root)) {}

  // Answers `path`, relative to the root, by what make() returns, whether or not
  // there is such a file. make() is called by any thread.
  void AddPage(std::string path, std::function<Response()> make) {
    pages_[std::move(path)] = std::move(make);
  }

  // The response to `request`. A GET and a HEAD are answered alike; whoever
  // sends the response leaves the body of the latter out.
  weft::Task<Response> Answer(const Request& request) const;

 private:
  weft::Task<Response> AnswerFolder(const Request& request,
                                    const Target& target) const;
  weft::Task<Response> AnswerFile(const Request& request,
                                  const std::string& path) const;
  weft::Task<Response> List(const Target& folder) const;

  weft::fs::Dir root_;
  std::map<std::string, std::function<Response()>> pages_;
};

}  // namespace http

#endif  // WEFT_EXAMPLES_HTTP_SITE_H_
