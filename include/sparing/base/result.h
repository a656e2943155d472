// Errors as values: Result<T> is a T or an Error. The library never throws, prints or exits across
// its boundary.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sparing {

// What kind of failure, coarse enough for a caller to act on. The CLI's exit codes follow from it
// (docs/cli.md).
enum class ErrorCode {
  kInvalidArgument,  // an option, shape, box or rectangle that the caller can correct
  kNotSupported,     // understood, but not available: a device frame, a device, a precision
  kInput,            // a video, image or annotation file that is missing, unreadable or damaged
  kModel,            // a model or manifest that is missing, broken, or fails its hash
  kOutput,           // a sink that cannot be written: permissions, full disk, closed pipe
  kInterrupted,      // the user asked to stop
  kInternal,         // an engine or the operating system failed in a way the caller cannot correct
};

// Stable lower-case name, e.g. "invalid_argument".
std::string_view to_string(ErrorCode code);

// One failure: the thing, what is wrong with which value, and the fix. All three are short phrases
// without a full stop; to_string() makes the one line that a user reads.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string thing;    // what it is about, with its name: "video 'a.mp4'"
  std::string problem;  // what is wrong, with the value: "no such file"
  std::string fix;      // what to do: "check the path"

  // "video 'a.mp4': no such file; check the path". Control characters become spaces, and bytes that
  // are not UTF-8 U+FFFD.
  std::string to_string() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok() (std::bad_variant_access otherwise: a bug of the caller).
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Precondition: !ok().
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success or an Error, for calls that return nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  // Precondition: !ok() (std::bad_optional_access otherwise: a bug of the caller).
  const Error& error() const& { return error_.value(); }
  Error&& error() && { return std::move(error_).value(); }

 private:
  std::optional<Error> error_;
};

inline Status ok_status() { return {}; }

}  // namespace sparing

#define SPARING_CONCAT_INNER(a, b) a##b
#define SPARING_CONCAT(a, b) SPARING_CONCAT_INNER(a, b)

// Returns the error of a Status or Result expression from the enclosing function, if it has one.
#define SPARING_RETURN_IF_ERROR(expr)                         \
  do {                                                        \
    if (auto sparing_status = (expr); !sparing_status.ok()) { \
      return std::move(sparing_status).error();               \
    }                                                         \
  } while (false)

// SPARING_ASSIGN_OR_RETURN(auto x, f()): x = value of f(), or returns f()'s error.
#define SPARING_ASSIGN_OR_RETURN(declaration, expr)                      \
  auto SPARING_CONCAT(sparing_result_, __LINE__) = (expr);               \
  if (!SPARING_CONCAT(sparing_result_, __LINE__).ok()) {                 \
    return std::move(SPARING_CONCAT(sparing_result_, __LINE__)).error(); \
  }                                                                      \
  declaration = std::move(SPARING_CONCAT(sparing_result_, __LINE__)).value()
