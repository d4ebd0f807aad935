# Run by ctest, which does not know its CMake, before it tests: makes a test of every suite of `program`, with `properties`. It is
# named `prefix`, the suite and `.*`, by which tools/sum_tests.py knows it. A suite of many tests is cut into processes of about a
# hundred, which run beside each other; it has the time of five tests.
execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  add_test("${program}_lists_its_tests" ${program} --gtest_list_tests)  # a failure that is seen
  return()
endif()
# A suite stands at the start of a line and ends with a dot, "Engines/Sums." or "Dlpack/0.  # TypeParam = float"; its tests are
# the lines below it that begin with two blanks. What a list of CMake would take for its own is of no meaning here.
string(REGEX REPLACE "[][;]" "," listed "${listed}")
string(REPLACE "\n" ";" lines "${listed}")
set(suites)
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.")
    set(suite ${CMAKE_MATCH_1})
    list(APPEND suites ${suite})
    set(size_of_${suite} 0)
  elseif(line MATCHES "^  ")
    math(EXPR size_of_${suite} "${size_of_${suite}} + 1")
  endif()
endforeach()

foreach(suite IN LISTS suites)
  math(EXPR parts "(${size_of_${suite}} + 99) / 100")
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    set(name "${prefix}${suite}.*")
    if(parts GREATER 1)
      string(APPEND name " ${part} of ${parts}")
    endif()
    add_test("${name}" ${cmake} -E env GTEST_TOTAL_SHARDS=${parts} GTEST_SHARD_INDEX=${index}
             ${program} "--gtest_filter=${suite}.*")
    set_tests_properties("${name}" PROPERTIES ${properties} TIMEOUT 1500)
  endforeach()
endforeach()
