#define ISA dotprod
#define CODED_BLOCK "coded_neon.h"
#include "coded.h"
#include "scaleddots.h"
#include "manydots.h"
#include "columnsums.h"
