// The tables of docs/kernel_models.md must agree with the model and with the published runs.
#include <gmock/gmock.h>

#include "roofline/json_object.hpp"
#include "tests/kernels/matmul/hopper/kernel_model_tables.hpp"

namespace ridgebench {
namespace {

std::string models_page() { return read_file(RIDGEBENCH_SOURCE_DIR "/docs/kernel_models.md"); }

TEST(KernelModels, TheTableOf8192CubedIsCurrent) {
  EXPECT_THAT(models_page(), ::testing::HasSubstr("<!-- table: kernel models 8192 -->\n" +
                                                  kernel_models_at_8192() + "<!-- /table -->"))
      << "to renew: kernel_models 8192";
}

TEST(KernelModels, TheTableOfShapesIsCurrent) {
  EXPECT_THAT(models_page(), ::testing::HasSubstr("<!-- table: kernel models shapes -->\n" +
                                                  kernel_models_of_shapes() + "<!-- /table -->"))
      << "to renew: kernel_models shapes";
}

TEST(KernelModels, TheTableOfProductsOfFewRowsIsCurrent) {
  EXPECT_THAT(models_page(), ::testing::HasSubstr("<!-- table: kernel models split_k -->\n" +
                                                  kernel_models_of_split_k() + "<!-- /table -->"))
      << "to renew: kernel_models split_k";
}

TEST(KernelModels, TheTableOfSmallProductsIsCurrent) {
  EXPECT_THAT(models_page(),
              ::testing::HasSubstr("<!-- table: kernel models small -->\n" +
                                   kernel_models_of_small_products() + "<!-- /table -->"))
      << "to renew: kernel_models small";
}

TEST(KernelModels, TheTableOfTrafficIsCurrent) {
  EXPECT_THAT(models_page(), ::testing::HasSubstr("<!-- table: kernel models traffic -->\n" +
                                                  kernel_models_of_traffic() + "<!-- /table -->"))
      << "to renew: kernel_models traffic";
}

TEST(KernelModels, TheTableOfRastersIsCurrent) {
  EXPECT_THAT(models_page(), ::testing::HasSubstr("<!-- table: kernel models rasters -->\n" +
                                                  kernel_models_of_rasters() + "<!-- /table -->"))
      << "to renew: kernel_models rasters";
}

}  // namespace
}  // namespace ridgebench
