#include "harness/device/cuda/graph.cuh"

#include <algorithm>
#include <vector>

#include "kernels/common/cuda/launch.cuh"

namespace ridgebench {
namespace {

using cuda::check;

constexpr std::int64_t kGraphNodes = 1024;      // a longer rotation makes a longer graph
constexpr std::int64_t kFewestGraphNodes = 64;  // the gap between two graphs matters below that

CudaGraph graph_of(cudaStream_t stream, std::span<const Launch> launches, std::int64_t repeats) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t captured = nullptr;
  try {
    for (std::int64_t i = 0; i < repeats; ++i) {
      for (const Launch& launch : launches) launch();
    }
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception&) {
    static_cast<void>(cudaStreamEndCapture(stream, &captured));
    static_cast<void>(cudaGetLastError());  // the capture's error, which ended with it
    const CudaGraph unfinished(captured);
    return nullptr;
  }
  check(cudaStreamEndCapture(stream, &captured));
  return CudaGraph(captured);
}

std::vector<cudaGraphNode_t> nodes_of(const CudaGraph& graph) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph.get(), nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  check(cudaGraphGetNodes(graph.get(), nodes.data(), &count));
  return nodes;
}

cudaGraphNodeType type_of(cudaGraphNode_t node) {
  cudaGraphNodeType type{};
  check(cudaGraphNodeGetType(node, &type));
  return type;
}

// The launch of a graph with many copies waits for the device, which waits behind the timer's gate.
bool has_copies(const CudaGraph& graph) {
  return std::ranges::any_of(nodes_of(graph), [](cudaGraphNode_t node) {
    return type_of(node) == cudaGraphNodeTypeMemcpy;
  });
}

}  // namespace

CudaGraphExec capture(cudaStream_t stream, std::span<const Launch> launches, std::int64_t repeats) {
  const CudaGraph graph = graph_of(stream, launches, repeats);
  if (!graph || has_copies(graph)) return nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph.get(), 0));
  CudaGraphExec result(executable);
  check(cudaGraphUpload(executable, stream));
  check(cudaStreamSynchronize(stream));
  return result;
}

const GraphCache::Graph& GraphCache::graph_for(cudaStream_t stream,
                                               std::span<const Launch> rotation,
                                               std::int64_t repeats) {
  const std::int64_t size = std::ssize(rotation);
  const std::int64_t wanted =
      ceil_div(repeats, ceil_div(repeats * size, std::max(kGraphNodes, size)));
  Graph& held = graphs_[{rotation.data(), rotation.size()}];
  const bool large = held.rotations * size >= kFewestGraphNodes;
  const bool serves = held.rotations == wanted || (large && repeats % held.rotations == 0);
  // The driver frees a graph that still runs when it is done.
  if (!serves) held = {capture(stream, rotation, wanted), wanted};
  return held;
}

Early early_of(cudaStream_t stream, const Launch& launch) {
#if CUDART_VERSION < 12030
  static_cast<void>(stream);
  static_cast<void>(launch);
  return {.early = {}, .unknown = "the edges of graphs have no types before CUDA 12.3"};
#else
#if CUDART_VERSION < 13000
  constexpr auto get_edges = cudaGraphGetEdges_v2;
#else
  constexpr auto get_edges = cudaGraphGetEdges;
#endif
  const CudaGraph graph = graph_of(stream, {&launch, 1}, 2);
  if (!graph) return {.early = {}, .unknown = "the launch cannot be captured in a graph"};
  std::size_t count = 0;
  check(get_edges(graph.get(), nullptr, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> from(count);
  std::vector<cudaGraphNode_t> to(count);
  std::vector<cudaGraphEdgeData> edges(count);
  check(get_edges(graph.get(), from.data(), to.data(), edges.data(), &count));
  const bool programmatic = std::ranges::any_of(edges, [](const cudaGraphEdgeData& edge) {
    return edge.type == cudaGraphDependencyTypeProgrammatic;
  });
  return {.early = programmatic, .unknown = {}};
#endif
}

std::optional<unsigned> thread_blocks(cudaStream_t stream, const Launch& launch) {
  const CudaGraph graph = graph_of(stream, {&launch, 1}, 1);
  if (!graph) return std::nullopt;
  std::optional<unsigned> most;
  for (const cudaGraphNode_t node : nodes_of(graph)) {
    if (type_of(node) != cudaGraphNodeTypeKernel) continue;
    cudaKernelNodeParams kernel{};
    if (cudaGraphKernelNodeGetParams(node, &kernel) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return std::nullopt;
    }
    const unsigned blocks = kernel.gridDim.x * kernel.gridDim.y * kernel.gridDim.z;
    most = std::max(most.value_or(0), blocks);
  }
  return most;
}

}  // namespace ridgebench
