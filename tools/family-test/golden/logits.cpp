// What llama.cpp computes of a model, in 32-bit floats on the processor:
//     logits MODEL.gguf TOKENS.txt OUT.npy
// writes the logits of all tokens, and prints the ids of a greedy text after the first 16 of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "llama.h"

namespace {

constexpr int CONTEXT = 256;  // llama.cpp rounds up to this
constexpr int GREEDY_AFTER = 16;
constexpr int GREEDY = 32;
constexpr float PARTS_AGREE = 1e-3f;
// A smaller lead of the likeliest token could be lost to another order of sums: such a model needs other weights.
constexpr float SMALLEST_LEAD = 0.004f;

using Tokens = std::vector<llama_token>;

[[noreturn]] void fail(const std::string & why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

void say_errors(ggml_log_level level, const char * text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR) {
        std::fputs(text, stderr);
    }
}

Tokens read_tokens(const char * file) {
    std::ifstream in(file);
    Tokens tokens;
    for (llama_token token; in >> token;) {
        tokens.push_back(token);
    }
    return tokens;
}

// One sequence with a cache of its own.
class Sequence {
  public:
    explicit Sequence(llama_model * model) : vocabulary(llama_vocab_n_tokens(llama_model_get_vocab(model))) {
        llama_context_params params = llama_context_default_params();
        params.n_ctx = CONTEXT;
        params.n_batch = CONTEXT;
        params.n_ubatch = CONTEXT;
        params.n_seq_max = 1;
        params.n_threads = 1;
        params.n_threads_batch = 1;
        params.type_k = GGML_TYPE_F32;
        params.type_v = GGML_TYPE_F32;
        params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
        context = llama_init_from_model(model, params);
        if (context == nullptr) {
            fail("no context");
        }
    }

    ~Sequence() { llama_free(context); }

    // Appends the tokens in one batch; the logits of all of them, one row after another.
    std::vector<float> append(const llama_token * tokens, int count) {
        llama_batch batch = llama_batch_init(count, 0, 1);
        batch.n_tokens = count;
        for (int i = 0; i < count; i++) {
            batch.token[i] = tokens[i];
            batch.pos[i] = length + i;
            batch.n_seq_id[i] = 1;
            batch.seq_id[i][0] = 0;
            batch.logits[i] = 1;
        }
        if (llama_decode(context, batch) != 0) {
            fail("llama_decode failed");
        }
        std::vector<float> rows;
        for (int i = 0; i < count; i++) {
            const float * row = llama_get_logits_ith(context, i);
            rows.insert(rows.end(), row, row + vocabulary);
        }
        llama_batch_free(batch);
        length += count;
        return rows;
    }

    const int vocabulary;

  private:
    llama_context * context;
    int length = 0;
};

std::vector<float> in_one_batch(llama_model * model, const Tokens & tokens) {
    Sequence sequence(model);
    return sequence.append(tokens.data(), (int) tokens.size());
}

std::vector<float> in_parts(llama_model * model, const Tokens & tokens) {
    Sequence sequence(model);
    std::vector<float> all;
    const int sizes[] = {1, 5, 20, 1, 3};
    size_t at = 0;
    for (int part = 0; at < tokens.size(); part++) {
        const int count = std::min<int>(sizes[part % 5], (int) (tokens.size() - at));
        const std::vector<float> rows = sequence.append(tokens.data() + at, count);
        all.insert(all.end(), rows.begin(), rows.end());
        at += count;
    }
    return all;
}

float agreement(const std::vector<float> & whole, const std::vector<float> & parts) {
    float farthest = 0;
    for (size_t i = 0; i < whole.size(); i++) {
        if (!std::isfinite(whole[i])) {
            fail("a logit is no number");
        }
        farthest = std::max(farthest, std::fabs(whole[i] - parts[i]));
    }
    if (farthest > PARTS_AGREE) {
        fail("one batch and parts differ by " + std::to_string(farthest));
    }
    return farthest;
}

void print_greedy(llama_model * model, const Tokens & tokens) {
    Sequence sequence(model);
    std::vector<float> rows = sequence.append(tokens.data(), GREEDY_AFTER);
    float smallest_lead = INFINITY;
    for (int i = 0; i < GREEDY; i++) {
        const std::vector<float> last(rows.end() - sequence.vocabulary, rows.end());
        const llama_token best = (llama_token) (std::max_element(last.begin(), last.end()) - last.begin());
        std::vector<float> sorted = last;
        std::sort(sorted.begin(), sorted.end());
        smallest_lead = std::min(smallest_lead, sorted.end()[-1] - sorted.end()[-2]);
        std::printf("%s%d", i == 0 ? "" : " ", best);
        rows = sequence.append(&best, 1);
    }
    std::printf("\n");
    std::fprintf(stderr, "the likeliest token leads by %.4f\n", smallest_lead);
    if (smallest_lead < SMALLEST_LEAD) {
        fail("that is too little, see SMALLEST_LEAD");
    }
}

void write_npy(const char * file, const std::vector<float> & values, size_t rows) {
    std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                             std::to_string(values.size() / rows) + "), }";
    while ((10 + dictionary.size() + 1) % 64 != 0) {
        dictionary += ' ';
    }
    dictionary += '\n';
    std::ofstream out(file, std::ios::binary);
    out.write("\x93NUMPY\x01\x00", 8);
    out.put((char) (dictionary.size() & 255)).put((char) (dictionary.size() >> 8));
    out << dictionary;
    out.write((const char *) values.data(), (std::streamsize) (values.size() * sizeof(float)));
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 4) {
        fail("logits MODEL.gguf TOKENS.txt OUT.npy");
    }
    llama_log_set(say_errors, nullptr);
    llama_backend_init();
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = 0;
    llama_model * model = llama_model_load_from_file(argv[1], params);
    if (model == nullptr) {
        fail(std::string("cannot load ") + argv[1]);
    }
    const Tokens tokens = read_tokens(argv[2]);
    const std::vector<float> logits = in_one_batch(model, tokens);
    const float apart = agreement(logits, in_parts(model, tokens));
    double squares = 0;
    for (float logit : logits) {
        squares += logit * logit;
    }
    std::fprintf(stderr, "%s: logits of %.2f, in parts within %.0e\n", argv[1], std::sqrt(squares / logits.size()), apart);
    write_npy(argv[3], logits, tokens.size());
    print_greedy(model, tokens);
    llama_model_free(model);
}
