#define ISA avx512
#define CODED_BLOCK "coded_avx512.h"
#include "coded.h"
#include "floats.h"
#include "weigh.h"
#include "dots.h"
#include "shorts.h"
#include "patterns.h"
#include "codebooks.h"
