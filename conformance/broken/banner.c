/* Broken: says hello on the program's stdout.
 * caught by: probe.stdout_untouched
 * passes: probe.counter_of_4_threads probe.recursive early.destructor_of_a_linked_library
 */
#include "real.h"

__attribute__((constructor)) static void hello(void) {
    static const char text[] = "Using the fastest lock\n";
    (void)!write(1, text, sizeof text - 1);
}
