/* A library that uses locks of the program that opens it. Opened by the tests of two.c in ways in which its calls do not come to a library that
 * is preloaded. */
#include "../two.h"

const struct functions shares_functions = FUNCTIONS;
