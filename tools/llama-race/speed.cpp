// Speeds of llama.cpp, or with IK_LLAMA defined of ik_llama.cpp, on one model: reading 512 tokens and generating 128,
// after a past of so many tokens.
//     speed MODEL THREADS [TURNS [PAST [f16|q8_0|q4_0 [flash]]]]
// Token ids are random, which costs what a text costs. Prints "PROMPT GENERATION", tokens a second, medians of the turns,
// and behind them how fast the past was read, where there is one.
#include "llama.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr int PROMPT = 512;
constexpr int GENERATED = 128;
constexpr int BEFORE_GENERATION = 16; // where there is no past

double seconds() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

void fail(const char *what) {
  std::fprintf(stderr, "speed: %s\n", what);
  std::exit(1);
}

// What the two call differently.
#ifdef IK_LLAMA
llama_batch batch_of(llama_token *tokens, int count, int position) {
  return llama_batch_get_one(tokens, count, position, 0);
}
void forget_from(llama_context *context, int position) { llama_kv_cache_seq_rm(context, 0, position, -1); }
void set_flash(llama_context_params &settings, bool flash) { settings.flash_attn = flash; }
void set_fastest(llama_model_params &how) { how.repack_tensors = true; }
void free_model(llama_model *model) { llama_free_model(model); }
#else
llama_batch batch_of(llama_token *tokens, int count, int) { return llama_batch_get_one(tokens, count); }
void forget_from(llama_context *context, int position) {
  llama_memory_seq_rm(llama_get_memory(context), 0, position, -1);
}
void set_flash(llama_context_params &settings, bool flash) {
  settings.flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
}
void set_fastest(llama_model_params &) {}
void free_model(llama_model *model) { llama_model_free(model); }
#endif

// Reads tokens whose first one stands at a position.
void read(llama_context *context, llama_token *tokens, int count, int position) {
  for (int at = 0; at < count; at += PROMPT) {
    if (llama_decode(context, batch_of(tokens + at, std::min(PROMPT, count - at), position + at))) {
      fail("a step failed");
    }
  }
  llama_synchronize(context);
}

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

} // namespace

int main(int count, char **arguments) {
  if (count < 3) {
    fail("expected MODEL THREADS [TURNS [PAST [f16|q8_0|q4_0 [flash]]]]");
  }
  int threads = std::atoi(arguments[2]);
  int turns = count > 3 ? std::atoi(arguments[3]) : 5;
  int past = count > 4 ? std::atoi(arguments[4]) : 0;
  const char *cache = count > 5 ? arguments[5] : "f16";
  bool flash = count > 6;

  llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
  llama_backend_init();
  llama_model_params how = llama_model_default_params();
  how.n_gpu_layers = 0;
  set_fastest(how);
  llama_model *model = llama_model_load_from_file(arguments[1], how);
  if (model == nullptr) {
    fail("the model cannot be loaded");
  }
  llama_context_params settings = llama_context_default_params();
  settings.n_ctx = past + PROMPT + GENERATED + BEFORE_GENERATION;
  settings.n_batch = PROMPT;
  settings.n_ubatch = PROMPT;
  settings.n_threads = threads;
  settings.n_threads_batch = threads;
  settings.type_k = !std::strcmp(cache, "q4_0")   ? GGML_TYPE_Q4_0
                    : !std::strcmp(cache, "q8_0") ? GGML_TYPE_Q8_0
                                                  : GGML_TYPE_F16;
  settings.type_v = settings.type_k;
  // Values of less than 16 bits are only known to flash attention.
  set_flash(settings, flash || settings.type_v != GGML_TYPE_F16);
  llama_context *context = llama_init_from_model(model, settings);
  if (context == nullptr) {
    fail("a context of that kind cannot be made");
  }

  std::mt19937 random(1);
  int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  std::vector<llama_token> tokens(past + PROMPT + BEFORE_GENERATION + GENERATED);
  for (llama_token &token : tokens) {
    token = random() % vocabulary;
  }
  read(context, tokens.data(), BEFORE_GENERATION, 0); // once, for what is made at the first step
  forget_from(context, 0);
  double start = seconds();
  read(context, tokens.data(), past, 0);
  double whole = past / (seconds() - start);
  std::vector<double> prompts;
  std::vector<double> generations;
  for (int turn = 0; turn < turns; turn++) {
    double begin = seconds();
    read(context, tokens.data() + past, PROMPT, past);
    prompts.push_back(PROMPT / (seconds() - begin));
    forget_from(context, past);
    int from = past > 0 ? past : BEFORE_GENERATION;
    if (past == 0) {
      read(context, tokens.data(), BEFORE_GENERATION, 0);
    }
    begin = seconds();
    for (int token = 0; token < GENERATED; token++) {
      read(context, tokens.data() + past + token, 1, from + token);
    }
    generations.push_back(GENERATED / (seconds() - begin));
    forget_from(context, past);
  }
  std::printf("%.1f %.1f", median(prompts), median(generations));
  if (past > 0) {
    std::printf(" %.1f", whole);
  }
  std::printf("\n");
  llama_free(context);
  free_model(model);
}
