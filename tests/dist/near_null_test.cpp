#include "dist/near_null.hpp"

#include "support/failing_allocations.hpp"

#include <array>
#include <cmath>
#include <petscdmshell.h>

namespace amgkit::test
{
template <class Ex> using NearNullTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(NearNullTest, Spaces, SpaceName);

namespace
{
HostCsr identity(int n)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = 1;
  return make_csr(n, n, entries);
}

// A matrix of nodes with bs rows each: rank r has 3 r + 4 of them, the first of several none.
struct Nodes {
  OwnedMat A;
  PetscInt bs, first, count;

  static PetscInt of_rank(int r) { return r == 0 && size_of_world() > 1 ? 0 : 3 * r + 4; }
  static PetscInt of_all()
  {
    PetscInt all = 0;
    for (int r = 0; r < size_of_world(); r++) all += of_rank(r);
    return all;
  }
  explicit Nodes(PetscInt block_size) : bs(block_size), first(0), count(of_rank(rank_of_world()))
  {
    for (int r = 0; r < rank_of_world(); r++) first += of_rank(r);
  }
  PetscErrorCode create(bool on_device)
  {
    PetscFunctionBegin;
    PetscCall(distribute(identity(static_cast<int>(of_all() * bs)), on_device, A.out(), count * bs));
    PetscCall(MatSetBlockSize(A, bs));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static double coordinate(PetscInt node, int c) { return 100 + std::sin(static_cast<double>(1 + node) * (c + 2)); }
  Coordinates coordinates(int dim) const
  {
    Coordinates x{dim, {}};
    for (PetscInt I = first; I < first + count; I++) {
      for (int c = 0; c < dim; c++) x.of_nodes.push_back(coordinate(I, c));
    }
    return x;
  }
  // Less the mean over all nodes
  static std::array<double, 3> centred(PetscInt node)
  {
    std::array<double, 3> x{};
    for (int c = 0; c < 3; c++) {
      for (PetscInt I = 0; I < of_all(); I++) x[c] -= coordinate(I, c) / static_cast<double>(of_all());
      x[c] += coordinate(node, c);
    }
    return x;
  }
  // Orthonormal vectors, orthogonal to the constant one: one has entries in rows 4 k + 2 t, 4 k + 2 t + 1 for all k.
  PetscErrorCode attach(int vectors, bool constant, bool near)
  {
    OwnedNullSpace space;
    std::vector<OwnedVec> owned(vectors);
    std::vector<Vec> v;

    PetscFunctionBegin;
    for (int t = 0; t < vectors; t++) {
      PetscCall(MatCreateVecs(A, owned[t].out(), nullptr));
      for (PetscInt i = first * bs; i < (first + count) * bs; i++) PetscCall(VecSetValue(owned[t], i, entry(i, t), INSERT_VALUES));
      PetscCall(VecAssemblyBegin(owned[t]));
      PetscCall(VecAssemblyEnd(owned[t]));
      v.push_back(owned[t]);
    }
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, constant ? PETSC_TRUE : PETSC_FALSE, vectors, v.data(), space.out()));
    PetscCall(near ? MatSetNearNullSpace(A, space) : MatSetNullSpace(A, space));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double entry(PetscInt i, int t) const
  {
    const PetscInt all = of_all() * bs, pairs = (all / 2 - t + 1) / 2; // of this vector
    return i / 2 % 2 == t && i < all / 2 * 2 ? (i % 2 == 0 ? 1 : -1) / std::sqrt(2.0 * static_cast<double>(pairs)) : 0;
  }
};

// B of this rank, when all is well
template <class Ex> std::vector<double> space_of(Ex &ex, const Nodes &nodes, const Coordinates &x, int m)
{
  NearNull<Ex> space;
  std::vector<double> B;
  EXPECT_EQ(static_cast<int>(near_null_space_of(ex, nodes.A, x, space)), 0);
  EXPECT_EQ(space.m, m);
  EXPECT_EQ(space.B.size(), nodes.count * nodes.bs * m);
  EXPECT_EQ(static_cast<int>(download(ex, space.B.data(), space.B.size(), B)), 0);
  return B;
}
template <class F> void expect_rows(const std::vector<double> &B, const Nodes &nodes, int m, F expected)
{
  ASSERT_EQ(B.size(), static_cast<std::size_t>(nodes.count * nodes.bs * m));
  for (PetscInt i = 0; i < nodes.count * nodes.bs; i++) {
    for (int k = 0; k < m; k++)
      ASSERT_NEAR(B[i * m + k], expected(nodes.first * nodes.bs + i, k), 1e-13) << "row " << i << ", vector " << k;
  }
}

PetscErrorCode keep_message(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type, const char *message,
                            void *kept)
{
  if (type == PETSC_ERROR_INITIAL && message) *static_cast<std::string *>(kept) = message;
  return code;
}
// The same error with these words on every rank
template <class Ex>
void expect_error(Ex &ex, const Nodes &nodes, const Coordinates &x, PetscErrorCode expected, const std::vector<std::string> &words)
{
  NearNull<Ex> space;
  std::string message;
  OK(PetscPushErrorHandler(keep_message, &message));
  const PetscErrorCode code = near_null_space_of(ex, nodes.A, x, space);
  OK(PetscPopErrorHandler());
  EXPECT_EQ(code, expected);
  for (const std::string &word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
}
bool on_last_rank() { return rank_of_world() == size_of_world() - 1; }
} // namespace

TYPED_TEST(NearNullTest, WithoutMoreTheConstantsOfTheComponents)
{
  for (const int bs : {1, 2, 3, 5}) {
    Nodes nodes(bs);
    OK(nodes.create(TypeParam::on_device));
    const auto constant = [=](PetscInt i, int k) { return i % bs == k ? 1.0 : 0.0; };
    expect_rows(space_of(this->ex, nodes, {}, bs), nodes, bs, constant);
    for (const int dim : {1, 2, 3}) { // which say nothing of other block sizes
      if (dim != bs || dim == 1) expect_rows(space_of(this->ex, nodes, nodes.coordinates(dim), bs), nodes, bs, constant);
    }
  }
}

// Translations, and the turns about the mean: each entry of r -> e × r.
TYPED_TEST(NearNullTest, CoordinatesGiveRigidBodyModes)
{
  for (const int dim : {2, 3}) {
    Nodes nodes(dim);
    OK(nodes.create(TypeParam::on_device));
    expect_rows(space_of(this->ex, nodes, nodes.coordinates(dim), dim == 2 ? 3 : 6), nodes, dim == 2 ? 3 : 6, [&](PetscInt i, int k) {
      const auto c = static_cast<int>(i % dim);
      if (k < dim) return k == c ? 1.0 : 0.0;
      const auto r = Nodes::centred(i / dim);
      std::array<double, 3> e{};
      e[dim == 2 ? 2 : k - 3] = 1;
      const std::array<double, 3> cross = {e[1] * r[2] - e[2] * r[1], e[2] * r[0] - e[0] * r[2], e[0] * r[1] - e[1] * r[0]};
      return cross[c];
    });
  }
}

// MatNullSpaceCreateRigidBody() gives as many vectors, orthonormal ones: ours less their projections on these vanish, and ours are
// independent, as their coefficients are.
TYPED_TEST(NearNullTest, RigidBodyModesSpanWhatPETScsDo)
{
  for (const int dim : {2, 3}) {
    const int m = dim == 2 ? 3 : 6;
    Nodes nodes(dim);
    OwnedVec x;
    OwnedNullSpace theirs;
    PetscBool constant;
    PetscInt count;
    const Vec *q;
    OK(nodes.create(TypeParam::on_device));
    const auto B = space_of(this->ex, nodes, nodes.coordinates(dim), m);
    OK(VecCreateMPI(PETSC_COMM_WORLD, nodes.count * dim, PETSC_DETERMINE, x.out()));
    OK(VecSetBlockSize(x, dim));
    PetscScalar *entries;
    OK(VecGetArray(x, &entries));
    const std::vector<double> coordinates = nodes.coordinates(dim).of_nodes;
    std::copy(coordinates.begin(), coordinates.end(), entries);
    OK(VecRestoreArray(x, &entries));
    OK(MatNullSpaceCreateRigidBody(x, theirs.out()));
    OK(MatNullSpaceGetVecs(theirs, &constant, &count, &q));
    ASSERT_EQ(count + (constant ? 1 : 0), m);
    std::vector<std::vector<double>> Q;
    for (PetscInt k = 0; k < count; k++) {
      const PetscScalar *values;
      OK(VecGetArrayRead(q[k], &values));
      Q.emplace_back(values, values + nodes.count * dim);
      OK(VecRestoreArrayRead(q[k], &values));
    }
    std::vector<std::vector<double>> C(m, std::vector<double>(m, 0)); // C_jk = q_j · b_k
    for (int k = 0; k < m; k++) {
      for (int j = 0; j < m; j++) {
        for (std::size_t i = 0; i < Q[j].size(); i++) C[j][k] += Q[j][i] * B[i * m + k];
        MPI_Allreduce(MPI_IN_PLACE, &C[j][k], 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
      }
      for (PetscInt i = 0; i < nodes.count * dim; i++) {
        double left = B[i * m + k];
        for (int j = 0; j < m; j++) left -= Q[j][i] * C[j][k];
        ASSERT_NEAR(left, 0, 1e-11);
      }
    }
    for (int p = 0; p < m; p++) { // elimination with the largest pivot left in the column
      const auto pivot = std::max_element(C.begin() + p, C.end(), [=](auto &a, auto &b) { return std::abs(a[p]) < std::abs(b[p]); });
      std::swap(C[p], *pivot);
      ASSERT_GT(std::abs(C[p][p]), 0.1);
      for (int i = p + 1; i < m; i++) {
        for (int k = m - 1; k >= p; k--) C[i][k] -= C[i][p] / C[p][p] * C[p][k];
      }
    }
  }
}

TYPED_TEST(NearNullTest, AttachedVectorsComeFirst)
{
  for (const bool constant : {false, true}) {
    for (const int vectors : {0, 1, 2}) {
      Nodes nodes(3);
      OK(nodes.create(TypeParam::on_device));
      OK(nodes.attach(vectors, constant, true));
      const int m = vectors + constant;
      const auto expected = [&](PetscInt i, int k) { return constant && k == 0 ? 1 : nodes.entry(i, k - constant); };
      const Coordinates x = nodes.coordinates(3);
      if (m > 0)
        expect_rows(space_of(this->ex, nodes, x, m), nodes, m, expected);
      else
        space_of(this->ex, nodes, x, 6); // a space of nothing is none
    }
  }
}

// The first field's, of a DM that the matrix has or the caller: "nearnullspace" before "nullspace", a matrix's own before both; not that of
// one field for a matrix of several.
TYPED_TEST(NearNullTest, ADMsFieldIsAskedAfterTheMatrix)
{
  using OwnedDM = Owner<DM, DMDestroy>;
  for (const char *name : {"nearnullspace", "nullspace"}) {
    for (const bool of_matrix : {true, false}) {
      Nodes nodes(3), others(3), larger(6);
      OwnedDM dm;
      PetscContainer field;
      MatNullSpace space;
      OK(nodes.create(TypeParam::on_device));
      OK(others.create(TypeParam::on_device));
      OK(larger.create(TypeParam::on_device));
      OK(others.attach(2, true, true));
      OK(MatGetNearNullSpace(others.A, &space));
      OK(DMShellCreate(PETSC_COMM_WORLD, dm.out()));
      OK(PetscContainerCreate(PETSC_COMM_WORLD, &field));
      OK(DMAddField(dm, nullptr, reinterpret_cast<PetscObject>(field)));
      Coordinates x = nodes.coordinates(3);
      x.dm = of_matrix ? nullptr : static_cast<DM>(dm);
      for (const Nodes *on : {&nodes, &larger}) {
        if (of_matrix) {
          OK(MatSetDM(on->A, dm));
        }
      }
      space_of(this->ex, nodes, x, 6); // a field without
      OK(PetscObjectCompose(reinterpret_cast<PetscObject>(field), name, reinterpret_cast<PetscObject>(space)));
      expect_rows(space_of(this->ex, nodes, x, 3), nodes, 3, [&](PetscInt i, int k) { return k == 0 ? 1 : others.entry(i, k - 1); });
      space_of(this->ex, larger, {0, {}, x.dm}, 6);
      OK(nodes.attach(1, false, true));
      space_of(this->ex, nodes, x, 1);
      OK(PetscContainerDestroy(&field));
    }
  }
}

TYPED_TEST(NearNullTest, TheNullSpaceIsNotAsked)
{
  Nodes nodes(2);
  OK(nodes.create(TypeParam::on_device));
  OK(nodes.attach(1, true, false));
  expect_rows(space_of(this->ex, nodes, {}, 2), nodes, 2, [](PetscInt i, int k) { return i % 2 == k ? 1.0 : 0.0; });
}

TYPED_TEST(NearNullTest, CoordinatesOfAnotherLengthAreAnErrorOnEveryRank)
{
  for (const int bs : {1, 3}) {
    Nodes nodes(bs);
    OK(nodes.create(TypeParam::on_device));
    Coordinates x = nodes.coordinates(3);
    const auto there = Nodes::of_rank(size_of_world() - 1);
    if (on_last_rank()) x.of_nodes.resize(x.of_nodes.size() + 6);
    const std::string rank = "rank " + std::to_string(size_of_world() - 1);
    expect_error(this->ex, nodes, x, PETSC_ERR_ARG_SIZ,
                 {rank, std::to_string(there + 2) + " nodes here", std::to_string(there) + " nodes of block size"});
    if (on_last_rank()) x.of_nodes.resize(x.of_nodes.size() - 7); // not even whole nodes
    expect_error(this->ex, nodes, x, PETSC_ERR_ARG_SIZ, {rank});
  }
  if (size_of_world() > 1) {
    Nodes nodes(2);
    OK(nodes.create(TypeParam::on_device));
    expect_error(this->ex, nodes, on_last_rank() ? Coordinates{} : nodes.coordinates(2), PETSC_ERR_ARG_WRONG, {"0 dimensions"});
  }
}

TYPED_TEST(NearNullTest, VectorsOfAnotherLengthAreAnErrorOnEveryRank)
{
  Nodes nodes(2);
  OwnedVec v;
  OwnedNullSpace space;
  OK(nodes.create(TypeParam::on_device));
  OK(VecCreateMPI(PETSC_COMM_WORLD, nodes.count * 2 + (on_last_rank() ? 2 : 0), PETSC_DETERMINE, v.out()));
  OK(VecSet(v, 1));
  OK(VecNormalize(v, nullptr));
  Vec vectors[] = {v};
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, vectors, space.out()));
  OK(MatSetNearNullSpace(nodes.A, space));
  expect_error(this->ex, nodes, {}, PETSC_ERR_ARG_SIZ, {"Vector 0", std::to_string(2 * Nodes::of_rank(size_of_world() - 1)) + " rows"});
}

TYPED_TEST(NearNullTest, EntriesThatAreNotFiniteAreAnErrorOnEveryRank)
{
  for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY), -1e160}) {
    Nodes nodes(2);
    OK(nodes.create(TypeParam::on_device));
    Coordinates x = nodes.coordinates(2);
    const PetscInt last = Nodes::of_all() - 1;
    if (on_last_rank()) x.of_nodes.back() = bad;
    expect_error(this->ex, nodes, x, PETSC_ERR_FP, {"coordinates of node " + std::to_string(last)});
    OK(nodes.attach(2, false, true));
    MatNullSpace space;
    PetscBool constant;
    PetscInt count;
    const Vec *vectors;
    OK(MatGetNearNullSpace(nodes.A, &space));
    OK(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
    PetscInt locked; // by the null space, in newer versions of PETSc
    OK(VecLockGet(vectors[1], &locked));
    if (locked > 0) {
      OK(VecLockReadPop(vectors[1]));
    }
    if (on_last_rank()) {
      OK(VecSetValue(vectors[1], 2 * last, bad, INSERT_VALUES));
    }
    OK(VecAssemblyBegin(vectors[1]));
    OK(VecAssemblyEnd(vectors[1]));
    if (locked > 0) {
      OK(VecLockReadPush(vectors[1]));
    }
    expect_error(this->ex, nodes, {}, PETSC_ERR_FP, {"row " + std::to_string(2 * last) + " of vector 1"});
  }
}

TYPED_TEST(NearNullTest, TooManyVectorsAreAnError)
{
  Nodes most(most_near_null_vectors), more(most_near_null_vectors + 1);
  OK(most.create(TypeParam::on_device));
  OK(more.create(TypeParam::on_device));
  space_of(this->ex, most, {}, most_near_null_vectors);
  expect_error(this->ex, more, {}, PETSC_ERR_SUP, {"33 vectors", "at most 32"});
}

// Rigid body modes begin with translations, and so do the constants of components; the vectors that attach() makes do not. On a rank
// without rows there is nothing to compare.
TYPED_TEST(NearNullTest, KnowsConstantsThatComeFirst)
{
  // minus one where the size of the constants is not this one
  const auto count = [&](const Nodes &nodes, const NearNull<TypeParam> &space, double expected = 1) {
    int constants = -1;
    double size = 0;
    EXPECT_EQ(static_cast<int>(count_constants(this->ex, PETSC_COMM_WORLD, nodes.count * nodes.bs, static_cast<int>(nodes.bs), space,
                                               &constants, &size)),
              0);
    return size == expected ? constants : -1;
  };
  const auto multiply = [&](NearNull<TypeParam> &space, double factor, std::int64_t entries) {
    std::vector<double> B;
    OK(download(this->ex, space.B.data(), space.B.size(), B));
    for (std::int64_t at = 0; at < entries; at++) B[at] *= factor;
    OK(upload(this->ex, B, space.B));
  };
  for (const int bs : {2, 3}) {
    for (const bool located : {false, true}) {
      Nodes nodes(bs);
      NearNull<TypeParam> space;
      OK(nodes.create(TypeParam::on_device));
      OK(near_null_space_of(this->ex, nodes.A, located ? nodes.coordinates(bs) : Coordinates{}, space));
      EXPECT_EQ(count(nodes, space), bs);
      multiply(space, -0.125, space.B.size());
      EXPECT_EQ(count(nodes, space, 0.125), bs);
      // other constants than elsewhere, or in one row
      if (rank_of_world() + 1 == size_of_world()) multiply(space, 2, size_of_world() > 2 ? space.B.size() : 1);
      EXPECT_EQ(count(nodes, space), 0);
    }
  }
  Nodes nodes(2);
  NearNull<TypeParam> space;
  OK(nodes.create(TypeParam::on_device));
  OK(nodes.attach(2, false, true));
  OK(near_null_space_of(this->ex, nodes.A, {}, space));
  EXPECT_EQ(count(nodes, space), 0);
}

TEST(NearNullFailure, EveryAllocationMayFailOnOneRank)
{
  Nodes nodes(3);
  OK(nodes.create(false));
  FailingAllocations failing;
  for (bool more = true; more;) {
    Debug ex;
    NearNull<Debug> space;
    more = failing.run(ex, [&] { return near_null_space_of(ex, nodes.A, nodes.coordinates(3), space); });
  }
  EXPECT_GE(failing.failures(), 2);
}
} // namespace amgkit::test
