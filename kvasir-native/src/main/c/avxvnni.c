#define ISA avxvnni
#define CODED_BLOCK "coded_avx2.h"
#include "coded.h"
#include "dots.h"
#include "columnsums.h"
