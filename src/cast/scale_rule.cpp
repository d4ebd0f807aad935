// The scale rules that each kind of scale supports.
#include "src/cast/cast.hpp"

namespace lpt {

Status resolve_rule(const Format &target, lpt_rounding rounding, lpt_scale_rule rule, lpt_scale_rule &out_rule) {
  const lpt_format scale = target.has_block_scale() ? target.block_scale : target.tensor_scale;
  const bool is_e2m1fn = target.element == LPT_FORMAT_E2M1FN;
  const bool has_blocks = target.has_block_scale();
  out_rule = rule;
  bool fits = rule == LPT_SCALE_RULE_DEFAULT || (rule == LPT_SCALE_RULE_FIXED && scale != LPT_FORMAT_NONE);
  switch (scale) {
    case LPT_FORMAT_E8M0FNU:
      fits = fits || rule == LPT_SCALE_RULE_ROUND_UP || rule == LPT_SCALE_RULE_FLOOR || rule == LPT_SCALE_RULE_CEIL ||
             rule == LPT_SCALE_RULE_EVEN || rule == LPT_SCALE_RULE_MSE;
      fits = fits || (rule >= LPT_SCALE_RULE_QUEST_FLOOR && rule <= LPT_SCALE_RULE_QUEST_CEIL && is_e2m1fn);
      if (rule == LPT_SCALE_RULE_THREE_QUARTERS) {
        if (!target.has_tensor_scale()) {
          return unsupported(
              "scale_rule is LPT_SCALE_RULE_THREE_QUARTERS: %s has no f32 tensor scale for its 4/3, such as "
              "e2m1fn/1x32/e8m0fnu/f32 has",
              format_name(target.id).c_str());
        }
        fits = true;
      }
      if (rule == LPT_SCALE_RULE_DEFAULT) out_rule = LPT_SCALE_RULE_ROUND_UP;
      break;
    case LPT_FORMAT_E4M3FN:
      fits = fits || rule == LPT_SCALE_RULE_NEAREST || rule == LPT_SCALE_RULE_HEADROOM ||
             rule == LPT_SCALE_RULE_ROUND_UP || rule == LPT_SCALE_RULE_MSE;
      fits = fits || (rule == LPT_SCALE_RULE_FOUR_OVER_SIX && is_e2m1fn && target.has_tensor_scale());
      if (rule == LPT_SCALE_RULE_DEFAULT) {
        out_rule = rounding == LPT_ROUNDING_STOCHASTIC ? LPT_SCALE_RULE_HEADROOM : LPT_SCALE_RULE_NEAREST;
      }
      break;
    case LPT_FORMAT_F32:
      fits = fits || rule == LPT_SCALE_RULE_AMAX;
      if (!target.has_zero_point()) {
        fits = fits || rule == LPT_SCALE_RULE_POWER_OF_TWO || rule == LPT_SCALE_RULE_POWER_OF_TWO_DOWN ||
               rule == LPT_SCALE_RULE_POWER_OF_TWO_NEAREST || rule == LPT_SCALE_RULE_LIST;
        fits = fits || rule == LPT_SCALE_RULE_MSE || rule == LPT_SCALE_RULE_MEAN;
        fits = fits || (rule == LPT_SCALE_RULE_SAWB && !has_blocks && target.element == LPT_FORMAT_INT4);
      }
      if (rule == LPT_SCALE_RULE_DEFAULT) out_rule = LPT_SCALE_RULE_AMAX;
      break;
    default:
      if (rule == LPT_SCALE_RULE_DEFAULT) out_rule = LPT_SCALE_RULE_AMAX;
      break;
  }
  if (fits) return {};
  const std::string has = scale == LPT_FORMAT_NONE
                              ? "no scales"
                              : (has_blocks ? "block scales in " : "a tensor scale in ") + format_name(scale) +
                                    (target.has_zero_point() ? " with zero points" : "");
  return unsupported("scale_rule is %d: %s has %s", rule, format_name(target.id).c_str(), has.c_str());
}

}  // namespace lpt
