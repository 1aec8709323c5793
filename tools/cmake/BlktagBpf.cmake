# SPDX-License-Identifier: GPL-2.0-or-later
# Builds BPF programs. Input: *.bpf.c files. Output: an INTERFACE library that puts
# <name>.skel.h on the include path. Headers are tracked through depfiles, so a skeleton is
# rebuilt whenever anything it was made from has changed.

find_program(BLKTAG_CLANG NAMES clang clang-19 clang-16 clang-14)
find_program(BLKTAG_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin)
foreach(tool CLANG BPFTOOL)
  if(NOT BLKTAG_${tool})
    string(TOLOWER ${tool} lower)
    message(FATAL_ERROR "${lower} is needed to build the capture part and was not found: "
                        "apt-get install ${lower}, or configure with -DBLKTAG_CAPTURE=OFF")
  endif()
endforeach()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(BLKTAG_BPF_ARCH arm64)
else()
  set(BLKTAG_BPF_ARCH x86)
endif()

set(BLKTAG_BPF_FLAGS
    -target bpf -g -O2 -mcpu=v3 -std=gnu11 -D__TARGET_ARCH_${BLKTAG_BPF_ARCH}
    -I${PROJECT_SOURCE_DIR}/bpf -I${PROJECT_SOURCE_DIR}/include
    -Wall -Wextra -Wno-unused-parameter -Wno-missing-declarations)
if(BLKTAG_WERROR)
  list(APPEND BLKTAG_BPF_FLAGS -Werror)
endif()

# One object from one source; sets <out> to its path.
function(blktag_bpf_object source out)
  get_filename_component(base ${source} NAME_WE)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${base}.bpf.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${BLKTAG_CLANG} ${BLKTAG_BPF_FLAGS} -MD -MT ${object} -MF ${object}.d -c ${source}
            -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "BPF ${base}"
    VERBATIM)
  set(${out} ${object} PARENT_SCOPE)
endfunction()

# blktag_bpf_skeleton(<name> <source>...): the sources, linked to one object, as <name>.skel.h
# with struct <name>_bpf; link target blktag_bpf_<name> to include it.
function(blktag_bpf_skeleton name)
  set(objects)
  foreach(source ${ARGN})
    blktag_bpf_object(${source} object)
    list(APPEND objects ${object})
  endforeach()
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/linked/${name}.bpf.o)
  set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/include/${name}.skel.h)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/linked ${CMAKE_CURRENT_BINARY_DIR}/include)
  add_custom_command(
    OUTPUT ${linked} ${skeleton}
    COMMAND ${BLKTAG_BPFTOOL} gen object ${linked} ${objects}
    COMMAND ${BLKTAG_BPFTOOL} gen skeleton ${linked} name ${name}_bpf > ${skeleton}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
    DEPENDS ${objects}
    COMMENT "BPF skeleton ${name}"
    VERBATIM)
  add_custom_target(blktag_bpf_${name}_generate DEPENDS ${skeleton})
  add_library(blktag_bpf_${name} INTERFACE)
  add_dependencies(blktag_bpf_${name} blktag_bpf_${name}_generate)
  # SYSTEM: generated code does not answer to our warnings.
  target_include_directories(blktag_bpf_${name} SYSTEM
                             INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/include)
endfunction()
