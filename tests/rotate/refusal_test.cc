// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What is refused, with which code and text; and that nothing was written then.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr StatusCode kMismatch = StatusCode::kMismatch;
constexpr std::int64_t kHuge = INT64_MAX;

// A good call of q and k, out of place, to be spoiled.
struct Call {
  Rows rows;
  Placement placement{16, 4, Pairing::kHalf};
  Operand q;
  Operand k;
};

struct Case {
  const char* name;
  StatusCode code;
  const char* text;  // part of the message
  std::function<void(Call&)> spoil;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::byte* moved(void* data, std::int64_t floats) { return static_cast<std::byte*>(data) + 4 * floats; }

const Case kCases[] = {
    {"B1_BlankHeader", kMismatch, "no valid header", [](Call& c) { c.rows = Rows(); }},
    {"B1_WrongMagic", kMismatch, "no valid header", [](Call& c) { c.rows.magic = 1; }},
    {"B1_NoKey", kMismatch, "no valid header", [](Call& c) { c.rows.key = TableKey(); }},
    {"B1_OtherDevice", kMismatch, "rows: device 7, expected 1 (cpu)",
     [](Call& c) { c.rows.device = static_cast<Device>(7); }},
    {"B1_OtherUse", kMismatch, "expected a table for use 'rotate'", [](Call& c) { c.rows.uses = 0b110; }},
    {"B1_OtherPairs", kMismatch, "rows: 9 pairs, expected 8 (rotary_dim 16 / 2)", [](Call& c) { c.rows.pairs = 9; }},
    {"B62_PairsOfTheHead", kMismatch, "rows: 12 pairs, expected 8", [](Call& c) { c.rows.pairs = 12; }},
    {"B1_TooFewTokens", kMismatch, "rows: 2 tokens, expected at least 3", [](Call& c) { c.rows.tokens = 2; }},
    {"NegativeTokensOfRows", kMismatch, "rows: -1 tokens", [](Call& c) { c.rows.tokens = -1; }},
    {"NullCos", kMismatch, "cos or sin is null", [](Call& c) { c.rows.cos = nullptr; }},
    {"NullSin", kMismatch, "cos or sin is null", [](Call& c) { c.rows.sin = nullptr; }},

    {"OddRotaryDim", kInvalid, "rotary_dim 15, expected even", [](Call& c) { c.placement.rotary_dim = 15; }},
    {"NoRotaryDim", kInvalid, "rotary_dim 0, expected even", [](Call& c) { c.placement.rotary_dim = 0; }},
    {"NegativeRotaryDim", kInvalid, "rotary_dim -16", [](Call& c) { c.placement.rotary_dim = -16; }},
    {"OffsetTooLarge", kInvalid, "q: rotary_offset 9 + rotary_dim 16, expected inside head_dim 24",
     [](Call& c) { c.placement.rotary_offset = 9; }},
    {"OffsetOverflows", kInvalid, "expected inside head_dim 24",
     [](Call& c) { c.placement.rotary_offset = 2147483647; }},
    {"NegativeOffset", kInvalid, "q: rotary_offset -1", [](Call& c) { c.placement.rotary_offset = -1; }},
    {"UnknownPairing", kInvalid, "pairing 5, expected 0 or 1",
     [](Call& c) { c.placement.pairing = static_cast<Pairing>(5); }},

    {"NullInput", kInvalid, "q.in: data is null", [](Call& c) { c.q.in.data = nullptr; }},
    {"NullOutput", kInvalid, "k.out: data is null", [](Call& c) { c.k.out.data = nullptr; }},
    {"UnknownDtype", kInvalid, "q: dtype in 3, out 3",
     [](Call& c) { c.q.in.dtype = c.q.out.dtype = static_cast<DType>(3); }},
    {"DtypesDiffer", kInvalid, "k: dtype in 0, out 1", [](Call& c) { c.k.out.dtype = DType::kBF16; }},
    {"TokensDiffer", kInvalid, "q: shape in [3, 2, 24], out [2, 2, 24]", [](Call& c) { c.q.out.tokens = 2; }},
    {"HeadsDiffer", kInvalid, "q: shape in [3, 2, 24], out [3, 1, 24]", [](Call& c) { c.q.out.heads = 1; }},
    {"HeadDimsDiffer", kInvalid, "q: shape in [3, 2, 24], out [3, 2, 23]", [](Call& c) { c.q.out.head_dim = 23; }},
    {"NegativeTokens", kInvalid, "expected equal, not negative", [](Call& c) { c.q.in.tokens = c.q.out.tokens = -3; }},
    {"NegativeHeads", kInvalid, "expected equal, not negative", [](Call& c) { c.k.in.heads = c.k.out.heads = -1; }},
    {"NegativeHeadDim", kInvalid, "expected inside head_dim -24",
     [](Call& c) { c.k.in.head_dim = c.k.out.head_dim = -24; }},
    {"QAndKOfDifferentTokens", kInvalid, "q has 3 tokens of head_dim 24, k 2 of 24, expected equal",
     [](Call& c) { c.k.in.tokens = c.k.out.tokens = 2; }},
    {"QAndKOfDifferentHeadDims", kInvalid, "q has 3 tokens of head_dim 24, k 3 of 20, expected equal",
     [](Call& c) { c.k.in.head_dim = c.k.out.head_dim = 20; }},

    {"HugeTokenStride", kInvalid, "q.in: strides", [](Call& c) { c.q.in.token_stride = kHuge; }},
    {"HugeNegativeStride", kInvalid, "q.out: strides", [](Call& c) { c.q.out.head_stride = INT64_MIN; }},
    {"HugeTokens", kMismatch, "rows: 3 tokens, expected at least 1099511627776",
     [](Call& c) {
       for (TensorView* view : {&c.q.in, &c.q.out})
         *view = {view->data, DType::kF32, std::int64_t{1} << 40, 1, 24, 0, 0};
       c.q.in.token_stride = c.q.out.token_stride = 24;
       c.q.out = c.q.in;
     }},
    {"HugeTokensTimesStride", kInvalid, "q.in: strides", [](Call& c) { c.q.in.tokens = c.q.out.tokens = kHuge; }},
    {"HugeHeadDim", kInvalid, "q.in: strides", [](Call& c) { c.q.in.head_dim = c.q.out.head_dim = kHuge; }},
    {"BelowAddressZero", kInvalid, "q.in: strides", [](Call& c) { c.q.in.token_stride = -(std::int64_t{1} << 58); }},

    {"B152_ExpandedOutputHeads", kInvalid, "cannot tell that heads of q.out do not overlap: strides 48 and 0",
     [](Call& c) { c.q.out.head_stride = 0; }},
    {"B152_ExpandedOutputTokens", kInvalid, "cannot tell that heads of k.out do not overlap: strides 0 and 24",
     [](Call& c) { c.k.out.token_stride = 0; }},
    {"ExpandedInPlace", kInvalid, "cannot tell that heads of q.out do not overlap",
     [](Call& c) {
       c.q.in.head_stride = 0;
       c.q.out = c.q.in;
     }},
    {"OutputHeadsOverlap", kInvalid, "cannot tell that heads of q.out do not overlap",
     [](Call& c) { c.q.out.head_stride = 23; }},
    {"PartlyInPlace", kInvalid, "cannot tell that q.in and q.out do not overlap",
     [](Call& c) { c.q.out.data = moved(c.q.in.data, 8); }},
    {"InPlaceWithOtherStrides", kInvalid, "cannot tell that q.in and q.out do not overlap",
     [](Call& c) {
       c.q.out = c.q.in;
       c.q.out.token_stride = 24;
       c.q.out.head_stride = 72;
     }},
    {"B5_KWritesWhatQReads", kInvalid, "cannot tell that q.in and k.out do not overlap",
     [](Call& c) { c.k.out.data = moved(c.q.in.data, 24); }},
    {"B5_QWritesWhatKReads", kInvalid, "cannot tell that q.out and k.in do not overlap",
     [](Call& c) { c.k.in.data = moved(c.q.out.data, 24); }},
    {"B5_BothWriteTheSame", kInvalid, "cannot tell that q.out and k.out do not overlap",
     [](Call& c) { c.k.out.data = moved(c.q.out.data, 120); }},
    {"B5_TheSameInPlace", kInvalid, "cannot tell that q.out and k.out do not overlap",
     [](Call& c) { c.q = c.k = Operand::in_place(c.q.in); }},
};

class Refusal : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, Refusal, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

struct Tensors {
  Tensor q_in{{DType::kF32, 3, 2, 24}, Layout::kTokenMajor};
  Tensor q_out{{DType::kF32, 3, 2, 24}, Layout::kTokenMajor};
  Tensor k_in{{DType::kF32, 3, 1, 24}, Layout::kTokenMajor};
  Tensor k_out{{DType::kF32, 3, 1, 24}, Layout::kTokenMajor};
  TestRows rows{3, 8};
  Tensors() {
    q_in.fill(1);
    k_in.fill(2);
    q_out.poison();
    k_out.poison();
  }
  Call call() const {
    return {rows.rows(), {16, 4, Pairing::kHalf}, {q_in.view(), q_out.view()}, {k_in.view(), k_out.view()}};
  }
  std::vector<Bytes> memory() const { return {q_in.memory(), q_out.memory(), k_in.memory(), k_out.memory()}; }
};

TEST_P(Refusal, BeforeTheFirstWrite) {
  const Tensors tensors;
  Call call = tensors.call();
  GetParam().spoil(call);
  const auto before = tensors.memory();
  const Status status = rotate(call.rows, call.placement, call.q, call.k);
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_NE(status.message().find(GetParam().text), std::string::npos) << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  EXPECT_TRUE(tensors.memory() == before);
}

TEST(Acceptance, TheCallThatTheCasesSpoil) {
  const Tensors tensors;
  const Call call = tensors.call();
  const auto before = tensors.memory();
  EXPECT_TRUE(rotate(call.rows, call.placement, call.q, call.k).ok());
  EXPECT_FALSE(tensors.memory() == before);
}

// Each function takes the rows that were made for it.
TEST(Uses, B155_EveryFunctionAsksForItsUse) {
  const Tensors tensors;
  Call call = tensors.call();
  const Operand x = Operand::in_place(call.q.in);
  const auto code = [&](int uses, auto function) {
    call.rows.uses = static_cast<std::uint8_t>(uses);
    return function(call.rows, call.placement, x, Part{}).code();
  };
  const auto forward = [](const auto&... all) { return rotate(all...); };
  for (const int use : {0b001, 0b010, 0b100}) {
    EXPECT_EQ(code(use, forward), use == 0b001 ? StatusCode::kOk : kMismatch);
    EXPECT_EQ(code(use, rotate_backward), use == 0b001 ? StatusCode::kOk : kMismatch);
    EXPECT_EQ(code(use, rotate_inverse), use == 0b010 ? StatusCode::kOk : kMismatch);
    EXPECT_EQ(code(use, rotate_shift), use == 0b100 ? StatusCode::kOk : kMismatch);
  }
}

// Nothing to do is not an error, null data included; a wrong header still is.
TEST(Acceptance, EmptyOperands) {
  const Tensors tensors;
  Call call = tensors.call();
  const auto before = tensors.memory();
  Operand none = Operand::in_place(TensorView::of(nullptr, DType::kF32, 0, 2, 24));
  EXPECT_TRUE(rotate(call.rows, call.placement, none).ok());
  EXPECT_TRUE(rotate(call.rows, call.placement, none, none).ok());
  Rows no_rows = call.rows;
  no_rows.tokens = 0;
  no_rows.cos = no_rows.sin = nullptr;
  EXPECT_TRUE(rotate(no_rows, call.placement, none).ok());
  EXPECT_EQ(rotate(Rows(), call.placement, none).code(), kMismatch);
  none = Operand::in_place(TensorView::of(nullptr, DType::kF32, 3, 0, 24));
  EXPECT_TRUE(rotate(call.rows, call.placement, none).ok());
  EXPECT_TRUE(tensors.memory() == before);
  EXPECT_TRUE(rotate(call.rows, call.placement, call.q, none).ok());
  EXPECT_FALSE(tensors.memory() == before);
}

// In place only the rotary part counts: heads may share the elements beside it.
TEST(Acceptance, InPlaceHeadsMayOverlapOutsideTheRotaryPart) {
  const TestRows rows(2, 4);
  std::vector<float> memory(48, 1.0f);
  const TensorView view{memory.data(), DType::kF32, 2, 2, 16, 16, 8};
  EXPECT_TRUE(rotate(rows.rows(), {8, 8, Pairing::kHalf}, Operand::in_place(view)).ok());
  EXPECT_EQ(memory[7], 1.0f);
  EXPECT_EQ(memory[40], 1.0f);
}

}  // namespace
}  // namespace ropecache::test
