// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/examples/http/site.h"

#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http_parser.h"
#include "weft/examples/http/byte_range.h"
#include "weft/examples/http/content_type.h"
#include "weft/examples/http/listing.h"
#include "weft/examples/http/validators.h"
#include "weft/fs/dir_entry.h"
#include "weft/fs/file.h"
#include "weft/fs/metadata.h"
#include "weft/task/status.h"

namespace http {
namespace {

namespace fs = weft::fs;

// The response to a request that is wrong whatever it asks for, if it is.
std::optional<Response> CheckProtocol(const Request& request) {
  if (request.error != 0) return Response::Plain(request.error);
  if (request.major != 1) {
    return Response::Plain(HTTP_STATUS_HTTP_VERSION_NOT_SUPPORTED);
  }
  const int hosts = request.CountFields("Host");
  if (hosts > 1 || (hosts == 0 && request.minor > 0)) {
    return Response::Plain(HTTP_STATUS_BAD_REQUEST);
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = Response::Plain(HTTP_STATUS_METHOD_NOT_ALLOWED);
    response.AddField("Allow", "GET, HEAD");
    return response;
  }
  return std::nullopt;
}

// What a client is told of an error of the file system.
Response ErrorResponse(const absl::Status& status) {
  switch (weft::ErrnoOf(status)) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EXDEV:  // a symbolic link that leads out of the root
      return Response::Plain(HTTP_STATUS_NOT_FOUND);
    case EACCES:
    case EPERM:
      return Response::Plain(HTTP_STATUS_FORBIDDEN);
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Response::Plain(HTTP_STATUS_SERVICE_UNAVAILABLE);
    default:
      return Response::Plain(HTTP_STATUS_INTERNAL_SERVER_ERROR);
  }
}

// What a listing shows: whatever may turn out to be a file or a folder.
std::vector<ListingEntry> VisibleEntries(
    const std::vector<fs::DirEntry>& entries) {
  std::vector<ListingEntry> visible;
  visible.reserve(entries.size());
  for (const fs::DirEntry& entry : entries) {
    switch (entry.type()) {
      case fs::FileType::kDirectory:
        visible.push_back({entry.name(), true});
        break;
      case fs::FileType::kFile:
      case fs::FileType::kSymlink:
      case fs::FileType::kUnknown:
        visible.push_back({entry.name(), false});
        break;
      default:
        break;
    }
  }
  return visible;
}

// `file`, or the part of it that the request asks for.
Response FileResponse(const Request& request, std::string_view path,
                      fs::File file) {
  const uint64_t size = file.metadata_at_open().size();
  const Validators validators(size, file.metadata_at_open().modified());
  ByteRange part{0, size};
  int status = HTTP_STATUS_OK;
  if (validators.Match(request)) {
    status = HTTP_STATUS_NOT_MODIFIED;
  } else if (const auto field = request.Field("Range");
             field.has_value() && validators.AllowRange(request)) {
    if (const auto range = ParseByteRange(*field, size)) {
      status = range->length > 0 ? HTTP_STATUS_PARTIAL_CONTENT
                                 : HTTP_STATUS_RANGE_NOT_SATISFIABLE;
      part = *range;
    }
  }

  if (status == HTTP_STATUS_RANGE_NOT_SATISFIABLE) {
    Response response = Response::Plain(status);
    response.AddField("Content-Range", "bytes */" + std::to_string(size));
    return response;
  }
  Response response(status);
  response.AddField("ETag", validators.etag());
  response.AddField("Last-Modified", validators.LastModified());
  if (status == HTTP_STATUS_NOT_MODIFIED) return response;
  response.AddField("Accept-Ranges", "bytes");
  if (status == HTTP_STATUS_PARTIAL_CONTENT) {
    response.AddField("Content-Range",
                      "bytes " + std::to_string(part.offset) + '-' +
                          std::to_string(part.offset + part.length - 1) + '/' +
                          std::to_string(size));
  }
  response.SetFile(ContentTypeOf(path), std::move(file), part);
  return response;
}

}  // namespace

weft::Task<Response> Site::Answer(const Request& request) const {
  std::optional<Response> refusal = CheckProtocol(request);
  if (refusal.has_value()) co_return *std::move(refusal);
  const std::optional<Target> target = ParseTarget(request.target);
  if (!target.has_value()) {
    co_return Response::Plain(HTTP_STATUS_BAD_REQUEST);
  }

  const std::string path = target->Path();
  if (const auto page = pages_.find(path); page != pages_.end()) {
    co_return page->second();
  }
  const absl::StatusOr<fs::Metadata> found = co_await root_.Stat(path);
  if (!found.ok()) co_return ErrorResponse(found.status());
  if (found->IsDirectory()) co_return co_await AnswerFolder(request, *target);
  if (!found->IsFile() || target->ends_in_slash()) {
    co_return Response::Plain(HTTP_STATUS_NOT_FOUND);
  }
  co_return co_await AnswerFile(request, path);
}

weft::Task<Response> Site::AnswerFolder(const Request& request,
                                        const Target& target) const {
  // Relative links in a page of the folder need the slash.
  if (!target.ends_in_slash()) {
    Response response = Response::Plain(HTTP_STATUS_MOVED_PERMANENTLY);
    response.AddField("Location", target.AsFolder().EncodedUrl());
    co_return response;
  }
  const std::string index = target.Path() + "/index.html";
  const absl::StatusOr<fs::Metadata> found = co_await root_.Stat(index);
  if (found.ok() && found->IsFile()) {
    co_return co_await AnswerFile(request, index);
  }
  co_return co_await List(target);
}

weft::Task<Response> Site::AnswerFile(const Request& request,
                                      const std::string& path) const {
  absl::StatusOr<fs::File> file = co_await root_.OpenFile(path);
  if (!file.ok()) co_return ErrorResponse(file.status());
  // It may have been replaced since its type was looked at.
  if (!file->metadata_at_open().IsFile()) {
    co_return Response::Plain(HTTP_STATUS_NOT_FOUND);
  }
  co_return FileResponse(request, path, *std::move(file));
}

weft::Task<Response> Site::List(const Target& folder) const {
  const absl::StatusOr<std::vector<fs::DirEntry>> entries =
      co_await root_.List(folder.Path());
  if (!entries.ok()) co_return ErrorResponse(entries.status());
  Response response(HTTP_STATUS_OK);
  response.SetText("text/html; charset=utf-8",
                   ListingHtml(folder, VisibleEntries(*entries)));
  co_return response;
}

}  // namespace http
