#include "sparing/packing/window_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "sparing/packing/plan_checks.h"

namespace sparing {
namespace {

std::int64_t area_of(Size size) { return static_cast<std::int64_t>(size.width) * size.height; }

struct Item {
  Size size;         // as drawn
  double scale = 1;  // as drawn
};

// Canvases and what lies on them so far.
struct Draft {
  std::vector<CanvasShape> shapes;
  std::vector<Size> sizes;  // cropped
  std::vector<int> processors;
  std::vector<double> costs;
  std::vector<std::int64_t> free_area;  // of the uncropped shape
  std::vector<Placement> placements;    // of each request; canvas: index into the above
  std::vector<double> left;             // of each budget
};

class WindowPlanner {
 public:
  WindowPlanner(std::span<const RoiRequest> requests, const PlanResources& resources,
                const PriorityOptions& priorities, const WindowPlanOptions& options)
      : requests_(requests),
        resources_(resources),
        options_(options),
        menu_(canvas_menu(resources.shapes, resources.processors)),
        by_priority_(priority_order(requests, priorities)) {
    items_.reserve(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) items_.push_back(fit_item(i));
  }

  Result<WindowPlan> plan() {
    SPARING_ASSIGN_OR_RETURN(std::optional<Draft> draft, cheapest_of_all());
    if (!draft) {
      SPARING_ASSIGN_OR_RETURN(draft, place_by_priority());
    }
    return finish(*draft);
  }

 private:
  bool holds(Size canvas, Size item) const {
    const int border = 2 * resources_.pack.border;
    return item.width + border <= canvas.width && item.height + border <= canvas.height;
  }

  // The request as it is drawn: shrunk when no canvas holds it; of no size when that is not
  // allowed.
  Item fit_item(std::size_t request) {
    Item item{drawn_size(requests_[request]), requests_[request].scale};
    double factor = 0;
    const int border = 2 * resources_.pack.border;
    for (const CanvasShape& shape : menu_.shapes) {
      if (holds(shape.size, item.size)) return item;
      factor = std::max(factor, std::min(1.0 * (shape.size.width - border) / item.size.width,
                                         1.0 * (shape.size.height - border) / item.size.height));
    }
    if (!options_.shrink || factor <= 0) {
      too_large_.push_back(request);
      return {};
    }
    shrunk_.push_back(request);
    const auto side = [factor](int length) {
      // Rounding of factor x length must not make it larger than the canvas again.
      return std::max(static_cast<int>(std::floor(factor * length + 1e-6)), 1);
    };
    return {{side(item.size.width), side(item.size.height)}, item.scale * factor};
  }

  bool can_be_placed(std::size_t request) const { return items_[request].size.width > 0; }

  Draft empty_draft() const {
    Draft draft;
    draft.placements.resize(requests_.size());
    draft.left.assign(resources_.budgets.begin(), resources_.budgets.end());
    return draft;
  }

  // Area that a canvas needs for the regions of `waiting`.
  std::int64_t area_needed(const std::vector<std::size_t>& waiting, double fill) const {
    double sum = 0;
    for (const std::size_t i : waiting) {
      sum += (items_[i].size.width + resources_.pack.gap) *
             static_cast<double>(items_[i].size.height + resources_.pack.gap);
    }
    return static_cast<std::int64_t>(std::ceil(sum / fill));
  }

  // The part of the menu whose canvases hold `item`; of one template, or any (-1).
  CanvasMenu menu_for(Size item, int template_index = -1) const {
    CanvasMenu part;
    for (std::size_t i = 0; i < menu_.items.size(); ++i) {
      if (template_index >= 0 && menu_.shapes[i].template_index != template_index) continue;
      if (!holds(menu_.shapes[i].size, item)) continue;
      part.items.push_back(menu_.items[i]);
      part.shapes.push_back(menu_.shapes[i]);
    }
    return part;
  }

  bool any_holds(const CanvasMenu& menu, const KnapsackSolution& solution, Size item) const {
    for (std::size_t i = 0; i < menu.items.size(); ++i) {
      if (solution.counts[i] > 0 && holds(menu.shapes[i].size, item)) return true;
    }
    return false;
  }

  KnapsackSolution cheapest(const CanvasMenu& menu, const Draft& draft, std::int64_t area) {
    KnapsackSolution solution = least_cost(menu.items, draft.left, area);
    nodes_ += solution.nodes;
    return solution;
  }

  // Most area within what is left, and no more than is needed.
  KnapsackSolution affordable(const CanvasMenu& menu, const Draft& draft, std::int64_t area) {
    KnapsackSolution solution = cheapest(menu, draft, area);
    if (solution.feasible) return solution;
    double dearest = 0;
    for (const CanvasItem& item : menu.items) dearest = std::max(dearest, item.cost);
    std::int64_t smallest = area;
    for (const CanvasItem& item : menu.items) smallest = std::min(smallest, item.area);
    std::vector<double> budgets = draft.left;
    for (double& budget : budgets) {  // the knapsack takes no infinite ones
      const double copies = static_cast<double>(area / std::max<std::int64_t>(smallest, 1) + 1);
      budget = std::min(budget, copies * dearest);
    }
    solution = most_area(menu.items, budgets);
    nodes_ += solution.nodes;
    return solution;
  }

  // Runs the solution's canvases and places what it can of `waiting`, in that order. Canvases that
  // stay empty are not kept. Returns how many were placed.
  Result<std::size_t> add(Draft& draft, const CanvasMenu& menu, const KnapsackSolution& solution,
                          const std::vector<std::size_t>& waiting) const {
    std::vector<std::size_t> chosen;  // of the menu
    for (std::size_t i = 0; i < menu.items.size(); ++i) {
      chosen.insert(chosen.end(), static_cast<std::size_t>(solution.counts[i]), i);
    }
    std::vector<Size> sizes, canvases;
    for (const std::size_t i : waiting) sizes.push_back(items_[i].size);
    for (const std::size_t i : chosen) canvases.push_back(menu.shapes[i].size);
    SPARING_ASSIGN_OR_RETURN(const Packing packing, pack_rects(sizes, canvases, resources_.pack));

    std::vector<int> new_index(chosen.size(), -1);
    for (std::size_t c = 0; c < chosen.size(); ++c) {
      if (packing.used_heights[c] == 0) continue;
      new_index[c] = static_cast<int>(draft.shapes.size());
      add_canvas(draft, menu.shapes[chosen[c]], menu.items[chosen[c]], packing.used_heights[c]);
    }
    std::size_t placed = 0;
    for (std::size_t k = 0; k < waiting.size(); ++k) {
      const Placement& place = packing.placements[k];
      if (!place.placed()) continue;
      const int canvas = new_index[static_cast<std::size_t>(place.canvas)];
      draft.placements[waiting[k]] = {canvas, place.rect};
      draft.free_area[static_cast<std::size_t>(canvas)] -= area_of(items_[waiting[k]].size);
      ++placed;
    }
    return placed;
  }

  void add_canvas(Draft& draft, const CanvasShape& shape, const CanvasItem& item,
                  int used_height) const {
    Size size = shape.size;
    size.height = cropped_height(shape, used_height, resources_.canvas_options);
    const auto processor = static_cast<std::size_t>(item.processor);
    double cost = resources_.processors[processor]->estimate(size);
    if (cost > item.cost) {  // a profile need not grow with the area
      size = shape.size;
      cost = item.cost;
    }
    draft.shapes.push_back(shape);
    draft.sizes.push_back(size);
    draft.processors.push_back(item.processor);
    draft.costs.push_back(cost);
    draft.free_area.push_back(area_of(shape.size));
    draft.left[processor] = std::max(draft.left[processor] - cost, 0.0);
  }

  std::vector<std::size_t> waiting(const Draft& draft,
                                   const std::vector<std::size_t>& order) const {
    std::vector<std::size_t> result;
    for (const std::size_t i : order) {
      if (can_be_placed(i) && !draft.placements[i].placed()) result.push_back(i);
    }
    return result;
  }

  // All regions, at the least cost of several plans; none when they do not fit.
  Result<std::optional<Draft>> cheapest_of_all() {
    // Descending height packs best.
    std::vector<std::size_t> order = by_priority_;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Size x = items_[a].size, y = items_[b].size;
      return x.height != y.height ? x.height > y.height : x.width > y.width;
    });
    struct Attempt {
      double fill;
      int template_index;  // -1: any
    };
    const double fill = options_.expected_fill;
    std::vector<Attempt> attempts = {{fill, -1}, {std::max(fill - 0.1, 0.1), -1}};
    int templates = 0;
    for (const CanvasShape& shape : menu_.shapes) {
      templates = std::max(templates, shape.template_index + 1);
    }
    for (int t = 0; t < templates && templates > 1; ++t) attempts.push_back({fill, t});
    attempts.push_back({std::min(fill + 0.1, 1.0), -1});

    std::optional<Draft> best;
    std::size_t placed = 0;
    for (const Attempt& attempt : attempts) {
      placed += order.size();
      if (best && placed > static_cast<std::size_t>(options_.effort)) break;
      SPARING_ASSIGN_OR_RETURN(std::optional<Draft> draft,
                               place_all(order, attempt.fill, attempt.template_index));
      if (draft && (!best || cost_of(*draft) < cost_of(*best))) best = std::move(draft);
    }
    return best;
  }

  static double cost_of(const Draft& draft) {
    return std::accumulate(draft.costs.begin(), draft.costs.end(), 0.0);
  }

  // All regions on canvases of one template (-1: of any), as far as it holds them; none when they
  // do not fit.
  Result<std::optional<Draft>> place_all(const std::vector<std::size_t>& order, double fill,
                                         int template_index) {
    Draft draft = empty_draft();
    // The first round may use any canvas; later ones those that hold the largest that waits, so
    // that each round places one at least.
    for (bool first = true;; first = false) {
      const std::vector<std::size_t> rest = waiting(draft, order);
      if (rest.empty()) return std::optional(std::move(draft));
      const std::size_t largest =
          *std::max_element(rest.begin(), rest.end(), [&](std::size_t a, std::size_t b) {
            return area_of(items_[a].size) < area_of(items_[b].size);
          });
      CanvasMenu menu = first ? menu_for(Size{1, 1}, template_index)
                              : menu_for(items_[largest].size, template_index);
      if (!first && menu.items.empty()) menu = menu_for(items_[largest].size);
      const KnapsackSolution solution = cheapest(menu, draft, area_needed(rest, fill));
      if (!solution.feasible) return std::optional<Draft>();
      SPARING_RETURN_IF_ERROR(add(draft, menu, solution, rest));
    }
  }

  // The most important regions that the budgets allow.
  Result<std::optional<Draft>> place_by_priority() {
    Draft draft = empty_draft();
    for (int round = 0; round < options_.rounds; ++round) {
      const std::vector<std::size_t> rest = waiting(draft, by_priority_);
      if (rest.empty()) break;
      const Size first = items_[rest.front()].size;
      const std::int64_t area = area_needed(rest, options_.expected_fill);
      KnapsackSolution solution = affordable(menu_, draft, area);
      // The most important one must not wait for ever because small canvases are cheaper.
      if (!any_holds(menu_, solution, first)) {
        const CanvasMenu menu = menu_for(first);
        const KnapsackSolution other = affordable(menu, draft, area);
        if (other.area > 0) {
          SPARING_RETURN_IF_ERROR(add(draft, menu, other, rest));
          continue;
        }
      }
      if (solution.area == 0) break;
      SPARING_ASSIGN_OR_RETURN(const std::size_t placed, add(draft, menu_, solution, rest));
      if (placed == 0) break;
    }
    return std::optional(std::move(draft));
  }

  DropReason reason_of(std::size_t request, const Draft& draft) const {
    if (draft.shapes.empty()) return DropReason::kNoTime;
    for (std::size_t c = 0; c < draft.shapes.size(); ++c) {
      if (holds(draft.shapes[c].size, items_[request].size) &&
          draft.free_area[c] >= area_of(items_[request].size)) {
        return DropReason::kNoRoom;
      }
    }
    return DropReason::kBudget;
  }

  WindowPlan finish(const Draft& draft) const {
    WindowPlan plan;
    plan.nodes = nodes_;
    plan.spent.resize(resources_.processors.size());
    plan.shrunk = shrunk_;
    for (const std::size_t i : too_large_) plan.drops.push_back({i, DropReason::kTooLarge});
    // Canvases in the order of their most important regions.
    std::vector<int> position(draft.shapes.size(), -1);
    double placed = 0, area = 0;
    for (const std::size_t i : by_priority_) {
      const Placement& place = draft.placements[i];
      if (!place.placed()) {
        if (can_be_placed(i)) plan.drops.push_back({i, reason_of(i, draft)});
        continue;
      }
      const auto c = static_cast<std::size_t>(place.canvas);
      if (position[c] < 0) {
        position[c] = static_cast<int>(plan.canvases.size());
        plan.canvases.push_back(
            {draft.shapes[c], draft.sizes[c], draft.processors[c], draft.costs[c], {}});
        plan.spent[static_cast<std::size_t>(draft.processors[c])] += draft.costs[c];
        plan.cost += draft.costs[c];
        area += static_cast<double>(area_of(draft.sizes[c]));
      }
      plan.canvases[static_cast<std::size_t>(position[c])].rois.push_back(
          {i, place.rect, items_[i].scale});
      placed += static_cast<double>(area_of(items_[i].size));
    }
    std::sort(plan.drops.begin(), plan.drops.end(),
              [](const RoiDrop& a, const RoiDrop& b) { return a.request < b.request; });
    plan.fill = area > 0 ? placed / area : 0;
    plan.all_fit = plan.drops.empty();
    return plan;
  }

  std::span<const RoiRequest> requests_;
  const PlanResources& resources_;
  const WindowPlanOptions& options_;
  CanvasMenu menu_;
  std::vector<std::size_t> by_priority_;
  std::vector<Item> items_;
  std::vector<std::size_t> shrunk_, too_large_;
  std::int64_t nodes_ = 0;
};

}  // namespace

Result<WindowPlan> plan_window(std::span<const RoiRequest> requests, const PlanResources& resources,
                               const PriorityOptions& priorities,
                               const WindowPlanOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(priorities));
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(packing::check_resources(resources));
  SPARING_RETURN_IF_ERROR(packing::check_requests(requests));
  return WindowPlanner(requests, resources, priorities, options).plan();
}

}  // namespace sparing
