#define ISA avxvnni
#define CODED_BLOCK "coded_avx2.h"
#include "coded.h"
#include "scaleddots.h"
#include "columnsums.h"
