#include "sparing/train/trainer.h"
#include <gtest/gtest.h>
TEST(Trainer, TODO) {}
