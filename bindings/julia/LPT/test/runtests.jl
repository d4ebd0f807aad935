# What the Julia layer adds to lpt.h: layouts, refusals, matrices by columns, finalizers. LPT_ABI_TABLE names tests/abi/lpt_abi.txt.
using LPT
using LPT.Lib
using Test

refusal(call) =
    try
        call()
        "no refusal"
    catch error
        error isa LPTError || rethrow()
        sprint(showerror, error)
    end

@testset "LPT" begin

@testset "structs are laid out as in C" begin
    table = get(ENV, "LPT_ABI_TABLE", joinpath(@__DIR__, "../../../../tests/abi/lpt_abi.txt"))
    structs = 0
    for words in split.(readlines(table), ' ')
        if words[1] == "struct"
            structs += 1
            @test sizeof(getfield(Lib, Symbol(words[2]))) == parse(Int, words[3])
        elseif words[1] == "member"
            type, member = Symbol.(split(words[2], '.'))
            place = findfirst(==(member), fieldnames(getfield(Lib, type)))
            @test fieldoffset(getfield(Lib, type), place) == parse(Int, words[3])
        end
    end
    @test structs > 40
end

@testset "errors tell status and text" begin
    @test startswith(refusal(() -> Context(thread_count = -1)), "invalid argument: thread_count is -1")
    @test refusal(() -> format_from_name("e9m9")) == "invalid argument: name is 'e9m9': expected a format"
    @test format_name(format_from_name("mxfp8_e4m3")) == "mxfp8_e4m3"
    context = Context()
    @test refusal(() -> gemm!(context, zeros(Float32, 2, 2), zeros(Float32, 2, 2), zeros(Float32, 2, 2); alfa = 2)) ==
          "invalid argument: alfa is no member of lpt_gemm_options"
    @test refusal(() -> Tensor(context, view(zeros(Float32, 4, 4), 1:2:4, :))) ==
          "invalid argument: stride(x, 1) is 2: expected 1"
end

@testset "products of Julia's matrices, and of views of their columns" begin
    context = Context()
    a, b = Float32[i - 2j for i in 1:5, j in 1:7], Float32[i * j % 5 for i in 1:7, j in 1:9]
    c = zeros(Float32, 5, 9)
    @test gemm!(context, c, a, b) === c
    @test c == a * b
    wide = fill(9f0, 8, 12)
    gemm!(context, view(wide, 2:6, 3:11), a, b; alpha = 2)
    @test wide[2:6, 3:11] == 2 * (a * b)
    @test all(==(9f0), wide[[1, 7, 8], :]) && all(==(9f0), wide[:, [1, 2, 12]])
end

@testset "a tensor keeps its array, and a part its tensor's" begin
    context = Context()
    parts = map(1:200) do i
        whole = Tensor(context, fill(Float32(i), 8, 8))
        one = part(context, whole, LPT_PART_PAYLOAD)
        close(whole)
        one
    end
    GC.gc()
    [fill(-1f0, 8, 8) for _ in 1:2000]
    GC.gc()
    @test all(all(==(Float32(i)), reinterpret(Float32, bytes(context, one))) for (i, one) in enumerate(parts))
end

@testset "one rank meets itself" begin
    context, x = Context(), Float32[1 2; 3 4]
    comm = Comm(context, CommGroup(1), 0)
    LPT.barrier(context, comm)
    LPT.broadcast!(context, comm, 0, Tensor(context, x))
    all_reduce!(context, comm, Tensor(context, x); factor = 2)
    @test x == Float32[2 4; 6 8]
    @test startswith(refusal(() -> LPT.broadcast!(context, comm, 1, Tensor(context, x))), "invalid argument: root is 1")
end

@testset "finalizers end what was forgotten, in any order" begin
    for _ in 1:300
        context = Context(thread_count = 1)
        Tensor(context, LPT_FORMAT_NVFP4, 16, 64)
        Linear(context, Recipe(context, "mxfp8"), 32, 32)
    end
    GC.gc()
    @test LPT.abi_level() == 1
end

end
