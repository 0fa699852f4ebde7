#define ISA neon
#define CODED_BLOCK "coded_neon.h"
#include "coded.h"
#include "floats.h"
#include "lookups.h"
#include "patterns.h"
#include "codebooks.h"
