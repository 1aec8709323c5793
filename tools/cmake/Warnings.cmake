# SPDX-License-Identifier: GPL-2.0-or-later
# Compiler warnings and sanitizers. Input: options BLKTAG_WERROR, BLKTAG_SANITIZE. Output: target
# blktag_warnings, linked by everything of ours (never by generated or system code).

add_library(blktag_warnings INTERFACE)
target_compile_options(
  blktag_warnings
  INTERFACE -Wall
            -Wextra
            -Wshadow
            -Wconversion
            $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
            $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
            # gcc 12 sees overlapping copies in std::string's operator+ that cannot be (GCC PR 105651)
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
            $<$<BOOL:${BLKTAG_WERROR}>:-Werror>)

if(BLKTAG_SANITIZE)
  # "address;undefined" or "thread": the whole program must agree, so this is global.
  string(REPLACE ";" "," BLKTAG_SANITIZE_FLAG "${BLKTAG_SANITIZE}")
  add_compile_options(-fsanitize=${BLKTAG_SANITIZE_FLAG} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1 -O1
                      # instrumented, gcc 12 takes Boost.Histogram's stack buffer for uninitialized
                      -Wno-error=uninitialized -Wno-error=maybe-uninitialized)
  add_link_options(-fsanitize=${BLKTAG_SANITIZE_FLAG})
endif()
