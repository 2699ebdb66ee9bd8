#include "dist/mat_view.hpp"

#include "dist/attached.hpp"
#include "dist/user_rows.hpp"
#include "support/petsc_problems.hpp"

#include <cmath>
#include <random>

namespace amgkit::test
{
template <class Ex> using MatViewTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(MatViewTest, Spaces, SpaceName);

// The product through the view, halo and boundary rows included, is MatMult's.
TYPED_TEST(MatViewTest, ResidualAndSweepEqualPETScs)
{
  for (const auto &[name, M] : gallery()) {
    Mat A;
    Vec x, b, r;
    MatView<TypeParam> view;
    DistMatrix<TypeParam> D;
    std::vector<double> expected, bs, xs;
    OK(distribute(M, TypeParam::on_device, &A));
    OK(make_system(A, &x, &b));
    OK(VecDuplicate(b, &r));
    OK(VecSet(x, 0.25));
    OK(VecShift(x, 0.5));
    OK(view.create(A, D));
    OK(view.access(this->ex, D));
    OK(D.allocate(this->ex));
    EXPECT_EQ(D.global_rows(), M.rows);
    const PetscInt n = D.rows;
    const PetscScalar *entries;
    OK(VecGetArrayRead(b, &entries));
    auto B = this->to_space(std::vector<double>(entries, entries + n));
    OK(VecRestoreArrayRead(b, &entries));
    auto X = this->to_space(std::vector<double>(n, 0.75)), S = this->to_space(std::vector<double>(n, 0.5));
    auto R = this->to_space(std::vector<double>(n, NAN));
    OK(D.residual(this->ex, B.data(), X.data(), R.data()));
    OK(MatMult(A, x, r));
    OK(VecAYPX(r, -1, b));
    OK(VecGetArrayRead(r, &entries));
    auto got = this->to_host(R);
    for (PetscInt i = 0; i < n; i++) EXPECT_NEAR(got[i], entries[i], 1e-10) << name;
    OK(D.relax(this->ex, S.data(), {}, B.data(), X.data(), nullptr, R.data()));
    got = this->to_host(R);
    for (PetscInt i = 0; i < n; i++) EXPECT_NEAR(got[i], 0.75 + 0.5 * entries[i], 1e-10) << name;
    OK(VecRestoreArrayRead(r, &entries));
    OK(view.release());
    OK(MatDestroy(&A));
    OK(VecDestroy(&x));
    OK(VecDestroy(&b));
    OK(VecDestroy(&r));
  }
}

TYPED_TEST(MatViewTest, SeesNewValuesAndRefusesANewPattern)
{
  Mat A;
  MatView<TypeParam> view;
  DistMatrix<TypeParam> D;
  PetscInt first, last;
  OK(distribute(grid7(5, 4, 1), TypeParam::on_device, &A));
  OK(view.create(A, D));
  OK(MatScale(A, 2));
  OK(view.access(this->ex, D));
  if (D.rows > 0) {
    EXPECT_EQ(this->to_host(D.diag.view().val, 1)[0], 12);
  }
  OK(view.release());
  OK(MatGetOwnershipRange(A, &first, &last));
  if (rank_of_world() == 0) {
    OK(MatSetValue(A, 0, 19, 1, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  EXPECT_EQ(static_cast<int>(quietly([&] { return view.check(); })), PETSC_ERR_ARG_WRONGSTATE);
  OK(MatDestroy(&A));
}

namespace
{
// This rank's block of own columns
PetscErrorCode own_block(Mat A, Mat *block)
{
  PetscBool parallel;
  const PetscInt *ghosts;

  PetscFunctionBegin;
  *block = A;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, block, nullptr, &ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One more entry in a block of 2 rows or more; the nonzero state of a parallel A does not tell.
PetscErrorCode add_entry(Mat block, PetscInt column)
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(block, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(block, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetValue(block, 0, column, -0.5, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(block, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(block, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

TYPED_TEST(MatViewTest, AChangeOnOneRankIsSeenOnAll)
{
  OwnedMat A;
  Mat block;
  MatView<TypeParam> view;
  DistMatrix<TypeParam> D;
  bool same = false;
  OK(distribute(grid7(8, 4, 1), TypeParam::on_device, A.out()));
  OK(view.create(A, D));
  OK(view.matches(A, &same));
  EXPECT_TRUE(same);
  OK(own_block(A, &block));
  if (rank_of_world() == size_of_world() - 1) {
    OK(add_entry(block, 3));
  }
  EXPECT_EQ(static_cast<int>(quietly([&] { return view.check(); })), PETSC_ERR_ARG_WRONGSTATE);
  OK(view.matches(A, &same));
  EXPECT_FALSE(same);
  OK(view.create(A, D));
  OK(view.check());
}

// Where the space is apart from the host: the pattern once, the values when the matrix or its blocks say that they have changed.
TYPED_TEST(MatViewTest, CopiesWhatHasChanged)
{
  OwnedMat A;
  Mat block;
  MatView<TypeParam> view;
  DistMatrix<TypeParam> D;
  PetscScalar *entries, *kept;
  OK(distribute(grid7(8, 4, 2), false, A.out()));
  OK(own_block(A, &block));
  OK(view.create(A, D));
  EXPECT_EQ(view.copies(), TypeParam::apart);
  const auto first_entry = [&](int patterns, int values) {
    EXPECT_EQ(static_cast<int>(view.access(this->ex, D)), 0);
    EXPECT_EQ(view.copied().patterns, TypeParam::apart ? patterns : 0);
    EXPECT_EQ(view.copied().values, TypeParam::apart ? values : 0);
    const double entry = D.rows > 0 ? this->to_host(D.diag.view().val, 1)[0] : NAN;
    EXPECT_EQ(static_cast<int>(view.release()), 0);
    return entry;
  };
  const double size = first_entry(1, 1);
  EXPECT_EQ(first_entry(1, 1), size);
  OK(MatScale(A, 2));
  EXPECT_EQ(first_entry(1, 2), 2 * size);
  OK(MatSeqAIJGetArray(block, &entries)); // by a block alone
  entries[0] = 5;
  kept = entries;
  OK(MatSeqAIJRestoreArray(block, &entries));
  EXPECT_EQ(first_entry(1, 3), 5);
  kept[0] = 7; // of which nobody is told
  EXPECT_EQ(first_entry(1, 3), TypeParam::apart ? 5 : 7);
  OK(add_entry(block, 3));
  first_entry(2, 4);
  EXPECT_EQ(view.copied().bytes > 0, TypeParam::apart);
}

// As after MatEliminateZeros(), which PETSc 3.26 does to blocks alone: no setup follows.
TYPED_TEST(MatViewTest, ReadsThePatternThatBlocksHaveNow)
{
  OwnedMat A;
  Mat block;
  MatView<TypeParam> view;
  DistMatrix<TypeParam> D;
  const PetscInt *cols;
  PetscInt count;
  OK(distribute(grid7(8, 4, 1), TypeParam::on_device, A.out()));
  OK(view.create(A, D));
  OK(view.access(this->ex, D));
  OK(view.release());
  OK(own_block(A, &block));
  OK(add_entry(block, 3));
  OK(view.access(this->ex, D));
  const auto ptr = this->to_host(D.diag.view().ptr, D.rows + 1), col = this->to_host(D.diag.view().col, D.diag.nnz);
  OK(view.release());
  for (int i = 0; i < D.rows; i++) {
    OK(MatGetRow(block, i, &count, &cols, nullptr));
    EXPECT_EQ(std::vector<PetscInt>(col.begin() + ptr[i], col.begin() + ptr[i + 1]), std::vector<PetscInt>(cols, cols + count)) << i;
    OK(MatRestoreRow(block, i, &count, &cols, nullptr));
  }
}

// A long chain: of a rank's rows, two at most have ghosts. On a GPU the first view makes the begins of the rows, the second one takes
// PETSc's. Then the pattern changes.
TYPED_TEST(MatViewTest, ReadsBlocksOfWhoseRowsFewHaveEntries)
{
  OwnedMat A;
  Mat own, others;
  const PetscInt *ghosts;
  const auto check = [&](MatView<TypeParam> &view, const char *which) {
    DistMatrix<TypeParam> D;
    const PetscInt *ptr, *col;
    PetscInt rows;
    PetscBool done;
    OK(view.access(this->ex, D));
    const auto got_ptr = this->to_host(D.offd.ptr, D.offd.rows + 1), got_col = this->to_host(D.offd.col, D.offd.nnz);
    OK(view.release());
    OK(MatGetRowIJ(others, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ptr, &col, &done));
    EXPECT_EQ(std::vector<PetscInt>(got_ptr.begin(), got_ptr.end()), std::vector<PetscInt>(ptr, ptr + rows + 1)) << which;
    EXPECT_EQ(std::vector<PetscInt>(got_col.begin(), got_col.end()), std::vector<PetscInt>(col, col + ptr[rows])) << which;
  };
  OK(distribute(grid7(100, 1, 1), TypeParam::on_device, A.out()));
  OK(get_blocks(A, &own, &others, &ghosts));
  if (!others) GTEST_SKIP() << "one rank has no ghosts";
  for (const char *which : {"first", "second"}) {
    MatView<TypeParam> view;
    DistMatrix<TypeParam> D;
    OK(view.create(A, D));
    check(view, which);
    check(view, which);
    EXPECT_EQ(attached(reinterpret_cast<PetscObject>(others), "amgkit_row_begins") != nullptr, TypeParam::on_device && on_cuda(A));
    if (which[0] == 'f') {
      OK(add_entry(others, 0));
    }
    check(view, which);
  }
}

// As PETSc's own arrays say, for rows of which few, none or all have entries.
TEST(RowsOfEntries, AreThoseOfTheBegins)
{
  std::mt19937 random(7);
  for (const int one_in : {1, 2, 5, 40, 1000}) {
    for (const int rows : {0, 1, 2, 63, 64, 700}) {
      std::vector<PetscInt> ptr = {0};
      std::vector<std::uint32_t> expected;
      for (int i = 0; i < rows; i++) {
        const int entries = random() % one_in == 0 ? 1 + static_cast<int>(random() % 3) : 0;
        ptr.push_back(ptr.back() + entries);
        expected.insert(expected.end(), entries, i);
      }
      EXPECT_EQ(rows_of_entries(ptr.data(), rows), expected) << "one in " << one_in << " of " << rows;
    }
  }
}
} // namespace amgkit::test
