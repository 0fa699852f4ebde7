#define ISA neon
#define CODED_BLOCK "coded_neon.h"
#include "coded.h"
#include "floats.h"
#include "weigh.h"
#include "dots.h"
#include "shorts.h"
#include "patterns.h"
#include "codebooks.h"
