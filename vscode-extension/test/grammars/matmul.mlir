// Tile IR of matmul for sm_90
cuda_tile.module @kernels {
entry @matmul(%arg0: tile<ptr<f16>>, %arg1: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {
  %0 = make_token : token loc(#loc10)
  %assume = assume div_by<16>, %arg0 : tile<ptr<f32>> loc(#loc11)
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %tview = make_tensor_view %assume, shape = [%1, %2], strides = [%3, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %tile, %result_token = load_view_tko weak %pview[%blockId_x] token = %0 : partition_view<tile=(128x64), tensor_view<?x?xf16>>, tile<i32> -> tile<128x64xf16>, token
  %7 = divi %6, %cst_8_i32 signed rounding<negative_inf> : tile<i32> loc("kernels.vadd/vadd":2:9)
  %for = for %i in (%a to %b, step %c) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %9 = mmaf %8, %7, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %9 : tile<128x128xf32>
  }
  "tt.store"(%1) {cache = 1 : i32} : (!tt.ptr<f16>) -> ()
  cf.cond_br %cond, ^bb1, ^bb2(%1 : i32)
^bb1:
  return
}
}
#loc1 = loc("kernels.vadd/vadd":2:9)
