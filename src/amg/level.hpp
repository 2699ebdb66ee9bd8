// One level of a hierarchy, by lifetime: what stays, what the setup alone needs, and what the method that coarsens alone knows.
#pragma once
#include "amg/smoother.hpp"
#include "dist/mat_view.hpp"
#include "dist/redistribution.hpp"

#include <memory>
#include <string>

namespace amgkit
{
template <class Ex> struct Level;

// What a method allows on a rank only where else too many rows of a level would be left; the later, the more.
enum class Concession { none, single_rows, any_coupling };

// What the setup alone knows of a level, until the next coarser one is made of it.
template <class Ex> struct LevelSetup {
  Array<double, Ex> diagonal; // a_ii, or empty
  bool sound = true;          // false: the matrix is not what multigrid can go on with; the same on all ranks
};

// R and P between a level and the next coarser one, as transfer makes it, before any move to fewer ranks. What applies or refreshes them is
// collective over the finer level's ranks.
template <class Ex> class Transfer {
public:
  Transfer() = default;
  Transfer(const Transfer &) = delete;
  Transfer &operator=(const Transfer &) = delete;
  virtual ~Transfer() = default;
  // b = R r; and step, of b
  virtual PetscErrorCode restrict_residual(Ex &, const double *r, double *b, const FirstStep<double> &step) = 0;
  virtual PetscErrorCode restrict_residual(Ex &, const float *r, float *b, const FirstStep<float> &step) = 0;
  // x += P e
  virtual PetscErrorCode add_correction(Ex &, const double *e, double *x) = 0;
  virtual PetscErrorCode add_correction(Ex &, const float *e, float *x) = 0;
  // The same for Aᵀ: b = Pᵀ r, x += Rᵀ e. These two and restricts_by_transpose() are overridden where R is not Pᵀ; MatrixTransfer does it
  // for a method that gives R, which none of today's does.
  virtual PetscErrorCode restrict_transposed(Ex &ex, const double *r, double *b) { return restrict_residual(ex, r, b, {}); }
  virtual PetscErrorCode add_transposed(Ex &ex, const double *e, double *x) { return add_correction(ex, e, x); }
  virtual bool restricts_by_transpose() const { return true; }
  // Local, before the first of those with floats. *fits is true on entry; false: the entries of R and P are not for floats.
  virtual PetscErrorCode prepare_single(Ex &, bool *fits) = 0;
  // coarse = R fine P for new values of fine on the same pattern, and new weights in P where the method has it so; P's pattern stays.
  // of_coarse: as Prolongation::build() has it. fine.A has its new values, and neither matrix is folded.
  virtual PetscErrorCode refresh(Ex &, Level<Ex> &fine, const LevelSetup<Ex> &of_fine, DistMatrix<Ex> &coarse,
                                 LevelSetup<Ex> &of_coarse) = 0;
  // Local: this rank's rows of P, and those of Rᵀ where that is another matrix, on the host, when its coarse rows begin with the global row
  // first_coarse.
  virtual PetscErrorCode rows(Ex &, PetscInt first_coarse, HostRows &) const = 0;
  virtual PetscErrorCode rows_of_restriction(Ex &ex, PetscInt first_coarse, HostRows &out) const { return rows(ex, first_coarse, out); }
  // Local: false where the level's blocks are not all complete on this rank, which makes the coarse matrix's products slower.
  virtual bool in_blocks() const { return true; }
  // Collective: what applies them needs no MPI from now on, if the ranks' GPUs are peers. by_peers(): whether that is so, on all ranks.
  virtual PetscErrorCode meet_peers(Ex &) { return PETSC_SUCCESS; }
  virtual bool by_peers() const { return true; }
  // Local: what this rank allowed to get to the coarser level.
  virtual Concession concession() const { return Concession::none; }
  // For the view: what was chosen for P, and why, where something was. The same on all ranks.
  virtual std::string remark() const { return {}; }
  virtual std::size_t bytes() const = 0;
};

// The way of a level to fewer ranks, and its matrix before that, as the finer level's ranks make it.
template <class Ex> struct Move {
  Redistribution<Ex> way;
  std::unique_ptr<Level<Ex>> from; // the matrix alone
};

// What lives as long as the hierarchy.
template <class Ex> struct Level {
  DistMatrix<Ex> A;
  int number = 0;          // in the hierarchy, the finest is 0
  int block_size = 1;      // unknowns a node
  double bound = HUGE_VAL; // no eigenvalue of D⁻¹ A, D the diagonal, is larger in size; HUGE_VAL: nothing is known. The same on all ranks
  double coupling = 0;     // the largest |a_ij| / |a_ii|, j != i, of the finest level's own blocks
  Smoother<Ex> smoother;
  std::unique_ptr<Transfer<Ex>> transfer; // to the next coarser level, none on the coarsest
  std::unique_ptr<Move<Ex>> move;         // of the next coarser level, where fewer ranks hold it

  std::size_t bytes() const
  {
    return A.bytes() + smoother.bytes() + (transfer ? transfer->bytes() : 0) + (move ? move->way.bytes() + move->from->bytes() : 0);
  }
  // Collective: a visit to the level needs no MPI from now on, if its ranks' GPUs are peers. by_peers(): whether that is so, on all ranks.
  PetscErrorCode meet_peers(Ex &);
  bool by_peers() const { return A.halo.by_peers() && (!transfer || transfer->by_peers()) && (!move || move->way.by_peers()); }
  // Local: how the cycle stores A's blocks. A constant slice takes fewer bytes and more loads, one after the other. So it pays on the
  // finest level alone, and where this rank's values take more than 90 MB, of which an H200's cache holds 50: measured with elasticity.
  BlockForm blocks(Storage storage) const
  {
    constexpr double least = Ex::on_device ? 90e6 : 0;
    const double bytes = static_cast<double>(A.diag.nnz) * (storage == Storage::in_single ? sizeof(float) : sizeof(double));
    return {block_size, number == 0 && bytes > least};
  }
  // Collective, after analyse(), for the finest level; coarse matrices have next to no tied rows.
  PetscErrorCode find_ties(Ex &ex, const AmgParameters &parameters) { return smoother.find_ties(ex, A, parameters, coupling); }
  // Local: the smoother's D⁻¹, once A is complete or has new values, and diagonal, unless it is there.
  PetscErrorCode analyse(Ex &, const AmgParameters &, Array<double, Ex> &diagonal);
};

// Vectors of a level's rows that smoothing leaves as they are. If the coarsest matrix is singular, it most likely is so along these.
template <class Ex> struct SmoothVectors {
  Array<double, Ex> sum;   // w, which is P times the coarser level's w
  int count = 0;           // of the vectors that w is the sum of, if there are several; 0: there are not, or they are not known
  Array<double, Ex> parts; // these, side by side

  std::size_t bytes() const { return sum.bytes() + parts.bytes(); }
};

// How a method coarsens: the one thing in which the multigrid types differ. An object of one setup, which holds what the method alone knows
// of the level to be coarsened next.
template <class Ex> class Prolongation {
public:
  Prolongation() = default;
  Prolongation(const Prolongation &) = delete;
  Prolongation &operator=(const Prolongation &) = delete;
  virtual ~Prolongation() = default;
  // Collective, before all else. in_single: whether what the cycle alone reads, P among it, may be in single precision.
  PetscErrorCode begin(Ex &ex, Mat A, const Level<Ex> &finest, const LevelSetup<Ex> &of_finest, bool in_single)
  {
    in_single_ = in_single;
    return look_at_finest(ex, A, finest, of_finest);
  }
  // Local, after begin(): the finest level's rows are in this order, order[new] = the user's, of whom begin() has asked.
  virtual PetscErrorCode take_order(Ex &ex, const int *order) { return bring_in_order(ex, order, 1, smooth_vector_); }
  // Collective: fine.transfer, coarse.A = R A P, coarse's block size, if it is not 1, and of_coarse, all but P as MatrixTransfer::create()
  // makes them; smooth_vector_ becomes coarse's. of_fine's diagonal is there, and may be released.
  virtual PetscErrorCode build(Ex &, Level<Ex> &fine, LevelSetup<Ex> &of_fine, Level<Ex> &coarse, LevelSetup<Ex> &of_coarse) = 0;
  // Collective: the level that it knows goes this way; ranks that are no heads know of no rows then.
  virtual PetscErrorCode move(Ex &ex, Redistribution<Ex> &way) { return way.move_vector(ex, smooth_vector_); }
  // Of the coarsest level so far.
  virtual SmoothVectors<Ex> take_smooth_vectors() { return {std::move(smooth_vector_), 0, {}}; }
  // Local: for a level that stays the coarsest one, should build() find no next one.
  virtual PetscErrorCode copy_smooth_vectors(Ex &ex, SmoothVectors<Ex> &copy) const { return copy_vectors(ex, smooth_vector_, copy.sum); }
  virtual void give_back_smooth_vectors(SmoothVectors<Ex> &&vectors) { smooth_vector_ = std::move(vectors.sum); }

protected:
  // Collective: what the method needs of A, the finest level's matrix, and of what the user says of it; here smooth_vector_ alone.
  virtual PetscErrorCode look_at_finest(Ex &, Mat A, const Level<Ex> &finest, const LevelSetup<Ex> &);
  // m vectors side by side
  static PetscErrorCode bring_in_order(Ex &, const int *order, int m, Array<double, Ex> &vectors);
  static PetscErrorCode copy_vectors(Ex &, const Array<double, Ex> &from, Array<double, Ex> &to);
  Array<double, Ex> smooth_vector_;
  bool ones_ = false; // whether it is known to be 1, on all ranks
  bool in_single_ = false;
};
} // namespace amgkit
