#define ISA dotprod
#define CODED_BLOCK "coded_neon.h"
#include "coded.h"
#include "dots.h"
#include "manydots.h"
