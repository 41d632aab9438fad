# Kernels that are loaded find the program's functions in it. It keeps the CUDA runtime for itself: such kernels bring
# their own, and two that mix would share no state.
function(export_program target)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,libcudart_static.a:libcudadevrt.a)
endfunction()
