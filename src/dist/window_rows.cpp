// Rows of a group in memory that its processes share, and an AIJ matrix of the heads on it, without another copy.
#include "dist/attempt.hpp"
#include "dist/rows_of_heads.hpp"
#include "dist/user_rows.hpp"

namespace amgkit
{
namespace
{
class WindowRows final : public RowsOfHeads {
public:
  explicit WindowRows(const LayoutOfHeads &layout) : layout_(layout) {}
  PetscErrorCode create(Mat user, bool in_space, Mat *of_heads) override;
  PetscErrorCode take_values(Mat user, bool in_space, Mat of_heads) override;

private:
  // As MatCreateMPIAIJWithSplitArrays() has them: own columns less the group's first, others global, until it makes them local.
  struct Block {
    PetscInt *ptr = nullptr, *col = nullptr;
    PetscScalar *val = nullptr;
  };
  PetscErrorCode count(Mat user);
  PetscErrorCode allocate();
  PetscErrorCode write(Mat user, bool pattern);
  void write_rows(const UserRows &, bool pattern);
  PetscErrorCode make_matrix(Mat user, Mat *of_heads);

  LayoutOfHeads layout_;
  PlacesOfBlocks places_;
  Block own_, others_;
  SharedMemory memory_;
};

// f(rows of A), which are given back also after an error
template <class F> PetscErrorCode with_rows(Mat A, F f)
{
  UserRows rows;

  PetscFunctionBegin;
  PetscErrorCode code = rows.open(A);
  if (!code) f(rows);
  PetscCall(rows.close());
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WindowRows::count(Mat user)
{
  return with_rows(user, [&](const UserRows &rows) {
    for (PetscInt i = 0; i < rows.rows(); i++)
      rows.visit(i, [&](PetscInt column, double) { (layout_.is_own(column) ? places_.own : places_.others).mine++; });
  });
}

// Collective
PetscErrorCode WindowRows::allocate()
{
  const NodeGroups &groups = layout_.groups;
  const auto rounded = [](std::size_t bytes) { return (bytes + 127) / 128 * 128; };
  const auto rows = static_cast<std::size_t>(layout_.rows);
  std::array<std::size_t, 6> at{};
  std::size_t bytes = 0;

  PetscFunctionBegin;
  auto place = at.begin();
  for (const Places *places : {&places_.own, &places_.others}) {
    const auto entries = static_cast<std::size_t>(places->of_group);
    for (const std::size_t of_array : {(rows + 1) * sizeof(PetscInt), entries * sizeof(PetscInt), entries * sizeof(PetscScalar)}) {
      *place++ = bytes;
      bytes += rounded(of_array);
    }
  }
  PetscCall(attempt(groups.all(), [&] { return memory_.allocate(groups.group(), bytes); }));
  place = at.begin();
  for (Block *block : {&own_, &others_}) {
    block->ptr = memory_.at<PetscInt>(*place++);
    block->col = memory_.at<PetscInt>(*place++);
    block->val = memory_.at<PetscScalar>(*place++);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void WindowRows::write_rows(const UserRows &rows, bool pattern)
{
  std::array<std::int64_t, 2> next = {places_.own.before, places_.others.before};

  for (PetscInt i = 0; i < rows.rows(); i++) {
    rows.visit(i, [&](PetscInt column, double value) {
      const bool own = layout_.is_own(column);
      const Block &block = own ? own_ : others_;
      const std::int64_t k = next[own ? 0 : 1]++;
      if (pattern) block.col[k] = own ? column - layout_.first : column;
      block.val[k] = value;
    });
    if (!pattern) continue;
    own_.ptr[layout_.before + i + 1] = static_cast<PetscInt>(next[0]);
    others_.ptr[layout_.before + i + 1] = static_cast<PetscInt>(next[1]);
  }
}

// Collective: every process writes its own rows. Who reads them may do so afterwards. The row pointers begin with the memory's zeros.
PetscErrorCode WindowRows::write(Mat user, bool pattern)
{
  PetscFunctionBegin;
  PetscCall(attempt(layout_.groups.all(), [&] { return with_rows(user, [&](const UserRows &rows) { write_rows(rows, pattern); }); }));
  memory_.synchronise();
  PetscCallMPI(MPI_Barrier(layout_.groups.group()));
  memory_.synchronise();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the heads
PetscErrorCode WindowRows::make_matrix(Mat user, Mat *of_heads)
{
  const MPI_Comm heads = layout_.groups.heads();
  const PetscInt rows = layout_.rows;
  PetscInt all_rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(user, &all_rows, nullptr));
  if (layout_.groups.count() == 1)
    PetscCall(MatCreateSeqAIJWithArrays(heads, rows, rows, own_.ptr, own_.col, own_.val, of_heads));
  else
    PetscCall(MatCreateMPIAIJWithSplitArrays(heads, rows, rows, all_rows, all_rows, own_.ptr, own_.col, own_.val, others_.ptr, others_.col,
                                             others_.val, of_heads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WindowRows::create(Mat user, bool /* in_space */, Mat *of_heads)
{
  const NodeGroups &groups = layout_.groups;

  PetscFunctionBegin;
  PetscCall(attempt(groups.all(), [&] { return count(user); }));
  PetscCall(agree_on_places(layout_, &places_));
  PetscCall(allocate());
  PetscCall(write(user, true));
  PetscCall(groups.on_heads([&] { return make_matrix(user, of_heads); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WindowRows::take_values(Mat user, bool /* in_space */, Mat of_heads)
{
  std::array<Mat, 2> blocks;
  const PetscInt *ghosts;

  PetscFunctionBegin;
  PetscCall(write(user, false));
  if (!of_heads) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_blocks(of_heads, &blocks[0], &blocks[1], &ghosts));
  for (Mat block : blocks) { // what PETSc knows of old values is gone
    PetscScalar *values;
    if (!block) continue;
    PetscCall(MatSeqAIJGetArray(block, &values));
    PetscCall(MatSeqAIJRestoreArray(block, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::unique_ptr<RowsOfHeads> make_window_rows(const LayoutOfHeads &layout) { return std::make_unique<WindowRows>(layout); }
} // namespace amgkit
