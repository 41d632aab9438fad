// Content of a terminal's roofline: of a results directory or of a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/terminal/roofline.hpp"
#include "harness/results/doubts.hpp"
#include "harness/results/record.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// Returns the picture of a device: the best verified row of each operation in one format, or in as
// many formats as kMostPoints leaves room for, and the other verified rows as dots. Only steady
// rows count, where there are any, and a row that may not head anything comes last. The bandwidth
// is the one by which `predict` judges the point of the highest intensity. A share of the roof is
// the one of the record: rows of a folder come from judge(), at the roofs that faster rows raised.
RooflinePicture picture_of(const std::string& title, const Roofs& roofs,
                           const std::vector<Record>& records, const Standing& standing = {});

// Returns the pictures of a results folder's devices that have verified rows or ceilings; if
// `device` ("cpu") is not empty, of that one. Throws UsageError if the folder is unreadable.
std::vector<RooflinePicture> read_pictures(const std::string& directory, std::string_view device);

// Does the same, and throws UsageError that says what is missing if there is no picture.
std::vector<RooflinePicture> require_pictures(const std::string& directory,
                                              std::string_view device);

// Returns the roofs of DEVICE, as open_roofs takes it, and no points. Throws UsageError.
RooflinePicture picture_of_device(const std::string& device);

}  // namespace ridgebench
